import type { JetStreamManager, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { EXIT, Fatal, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { sleep } from '../base/time.ts';
import type { Cluster } from './connect.ts';

const REQUEST_TIMEOUT_MS = 2_000;
/** A cluster that starts has elected its leaders by then. */
const PREPARE_TIMEOUT_MS = 10_000;
const RETRY_MS = 250;
const REPLICAS = 3;

/** JetStream's error codes. */
const NO_SUITABLE_PEERS = 10_005;
const STREAM_NOT_FOUND = 10_059;
const NOT_CLUSTERED = 10_074;
/** JetStream's status while it has no leader. */
const UNAVAILABLE = 503;

/** Returns the API that creates and inspects streams. */
export function managerOf({ client, connection }: Cluster): Promise<JetStreamManager> {
  const options = { checkAPI: false, timeout: REQUEST_TIMEOUT_MS };
  return client.jetstreamManager(connection, options);
}

interface PrepareOptions {
  readonly cluster: Cluster;
  /** How many servers keep the stream; `undefined`: 3 if there are as many, else 1. */
  readonly replicas: number | undefined;
  readonly log: Log;
}

type Config = Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>;

/**
 * Finds the stream, or creates it with `config`. A cluster that does not answer yet is asked again
 * for a while.
 * @throws {Fatal} exit 69 if it does not answer, 78 if it answers that it will not.
 */
export async function prepareStream(
  { cluster, replicas, log }: PrepareOptions,
  config: Config,
): Promise<StreamInfo> {
  const manager = await managerOf(cluster);
  const { name } = config;
  const deadlineMs = performance.now() + PREPARE_TIMEOUT_MS;
  for (let count = replicas ?? REPLICAS; ;) {
    try {
      return await findOrMake(manager, { ...config, num_replicas: count }, cluster);
    } catch (error) {
      const code = apiCodeOf(error, cluster);
      const mayBeOne = replicas === undefined && count > 1;
      const isLate = performance.now() > deadlineMs;
      if (mayBeOne && code === NOT_CLUSTERED) {
        count = 1;
      } else if (!isLate && !isFinal(error, cluster)) {
        await sleep(RETRY_MS);
      } else if (
        mayBeOne &&
        code === NO_SUITABLE_PEERS &&
        // A server may still be down, and the stream would have one replica for good.
        cluster.servers.length < REPLICAS
      ) {
        log.warn(`Fewer than ${REPLICAS} NATS servers are up; stream ${name} is kept by one`);
        count = 1;
      } else {
        throw cannotPrepare(error, name, cluster);
      }
    }
  }
}

async function findOrMake(
  manager: JetStreamManager,
  config: Config,
  cluster: Cluster,
): Promise<StreamInfo> {
  try {
    return await manager.streams.info(config.name);
  } catch (error) {
    if (!isNotFound(error, cluster)) throw error;
    return manager.streams.add(config);
  }
}

/** Whether JetStream answered that there is no such stream. */
export const isNotFound = (error: unknown, cluster: Cluster): boolean =>
  apiCodeOf(error, cluster) === STREAM_NOT_FOUND;

/** Returns JetStream's code, if the error is an answer of JetStream. */
const apiCodeOf = (error: unknown, { client }: Cluster): number | undefined =>
  error instanceof client.JetStreamApiError ? error.code : undefined;

/** Whether asking again is useless. */
function isFinal(error: unknown, cluster: Cluster): boolean {
  const { errors, JetStreamApiError } = cluster.client;
  if (error instanceof JetStreamApiError) {
    return error.status !== UNAVAILABLE && error.code !== NO_SUITABLE_PEERS;
  }
  return error instanceof errors.PermissionViolationError;
}

function cannotPrepare(error: unknown, name: string, cluster: Cluster): Fatal {
  const { errors } = cluster.client;
  const isUnanswered = error instanceof errors.TimeoutError;
  const why = isUnanswered ? 'it does not answer; does it have a quorum?' : reasonOf(error);
  const isOff = (error as Error).name === 'JetStreamNotEnabled';
  const isRefused = isFinal(error, cluster) || isOff;
  return new Fatal(
    isRefused ? EXIT.badConfiguration : EXIT.unavailable,
    `Cannot use stream ${name} of the NATS cluster at ${cluster.servers.join(', ')}: ${why}`,
  );
}
