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

/** JetStream's codes for what is told apart here. */
const NO_SUITABLE_PEERS = 10_005;
const STREAM_NOT_FOUND = 10_059;
const NOT_CLUSTERED = 10_074;
/** Its status while it has no leader. */
const UNAVAILABLE = 503;

/** The API by which streams are made and looked at. */
export function managerOf({ client, connection }: Cluster): Promise<JetStreamManager> {
  const options = { checkAPI: false, timeout: REQUEST_TIMEOUT_MS };
  return client.jetstreamManager(connection, options);
}

interface PrepareOptions {
  readonly cluster: Cluster;
  /** How many servers shall keep it; `undefined`: 3 where there are as many, else 1. */
  readonly replicas: number | undefined;
  readonly log: Log;
}

type Config = Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>;

/**
 * Finds the stream, or makes it of `config` where there is none. A cluster that does not answer
 * yet is asked again for a while.
 * @throws {Fatal} exit 69 where it does not answer, 78 where it answers that it will not.
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
      const isLate = performance.now() > deadlineMs;
      if (replicas === undefined && count > 1 && code === NOT_CLUSTERED) {
        count = 1;
      } else if (replicas === undefined && count > 1 && code === NO_SUITABLE_PEERS && isLate) {
        // Of three servers one may not be there yet; the stream would stay with one for good.
        if (cluster.servers.length >= REPLICAS) throw cannotPrepare(error, name, cluster);
        log.warn(`The NATS cluster has fewer than ${REPLICAS} servers: one alone keeps ${name}`);
        count = 1;
      } else if (isLate || isFinal(error, cluster)) {
        throw cannotPrepare(error, name, cluster);
      } else {
        await sleep(RETRY_MS);
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

/** JetStream's code, where the error is an answer of its. */
const apiCodeOf = (error: unknown, { client }: Cluster): number | undefined =>
  error instanceof client.JetStreamApiError ? error.code : undefined;

/** Whether asking again is of no use. */
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
  const why = isUnanswered ? 'it does not answer; has it a quorum?' : reasonOf(error);
  const isOff = (error as Error).name === 'JetStreamNotEnabled';
  const isRefused = isFinal(error, cluster) || isOff;
  return new Fatal(
    isRefused ? EXIT.badConfiguration : EXIT.unavailable,
    `Cannot use stream ${name} of the NATS cluster at ${cluster.servers.join(', ')}: ${why}`,
  );
}
