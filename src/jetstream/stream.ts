import type { JetStreamManager, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { EXIT, Fatal, errorText } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { sleep } from '../base/time.ts';
import type { Cluster } from './connect.ts';
import { REPLICAS } from './inspect.ts';

const REQUEST_TIMEOUT_MS = 2_000;
/** A cluster that is starting elects its leaders within this time. */
const PREPARE_TIMEOUT_MS = 10_000;
const RETRY_MS = 250;
/** Nothing is published twice, so the servers need not remember an id for long. */
const DUPLICATE_WINDOW_NS = 5e9;
const COMMON = { storage: 'file', duplicate_window: DUPLICATE_WINDOW_NS } as const;

/** JetStream's error codes. */
const NO_SUITABLE_PEERS = 10_005;
const STREAM_NOT_FOUND = 10_059;
const SUBJECTS_OVERLAP = 10_065;
const NOT_CLUSTERED = 10_074;
/** JetStream's status while it has no leader. */
const UNAVAILABLE = 503;
const PROBE_TIMEOUT_MS = 1_000;

/** Returns the API that creates and inspects streams. */
export function managerOf({ client, connection }: Cluster): Promise<JetStreamManager> {
  const options = { checkAPI: false, timeout: REQUEST_TIMEOUT_MS };
  return client.jetstreamManager(connection, options);
}

/** Resolves to `undefined` if JetStream answers that there is no such stream. */
export async function findStream(cluster: Cluster, name: string): Promise<StreamInfo | undefined> {
  try {
    return await (await managerOf(cluster)).streams.info(name);
  } catch (error) {
    if (apiErrorOf(error, cluster)?.code === STREAM_NOT_FOUND) return undefined;
    throw error;
  }
}

export interface PrepareOptions {
  readonly cluster: Cluster;
  /** How many servers store the stream; `undefined`: 3 if the cluster has three, else 1. */
  readonly replicas: number | undefined;
  readonly log: Log;
}

type Config = Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>;

/**
 * Finds the stream or creates it in files, with `config`. A cluster that doesn't answer yet is
 * asked again for a while.
 * @throws {Fatal} exit 69 if it doesn't answer, 78 if it refuses.
 */
export async function prepareStream(
  { cluster, replicas, log }: PrepareOptions,
  config: Config,
): Promise<StreamInfo> {
  const { streams } = await managerOf(cluster);
  const { name } = config;
  const deadlineMs = performance.now() + PREPARE_TIMEOUT_MS;
  for (let count = replicas ?? REPLICAS; ;) {
    try {
      const found = await findStream(cluster, name);
      return found ?? (await streams.add({ ...COMMON, ...config, num_replicas: count }));
    } catch (error) {
      cluster.refuseDenied(error);
      const code = apiErrorOf(error, cluster)?.code;
      // If the operator has named three servers, a missing one may only be down for now, and a
      // stream created meanwhile would keep one replica for good.
      const hasFewServers = code === NO_SUITABLE_PEERS && cluster.servers.length < REPLICAS;
      if (!isRefusal(error, cluster) && performance.now() < deadlineMs) {
        await sleep(RETRY_MS);
      } else if (replicas === undefined && count > 1 && (hasFewServers || code === NOT_CLUSTERED)) {
        if (hasFewServers) {
          log.warn(
            `The NATS cluster can't place stream ${name} on ${REPLICAS} servers now; creating it on one server`,
          );
        }
        count = 1;
      } else {
        throw cannotUse(error, { ...config, num_replicas: count }, cluster);
      }
    }
  }
}

/**
 * Publishes a message that names another stream as its target, so the stream refuses it.
 * @param subject the first part of the message's subject.
 * @throws if no answer comes within a second, or if viewlog isn't allowed to publish there.
 */
export function probe(cluster: Cluster, stream: string, subject: string): Promise<unknown> {
  const headers = cluster.client.headers();
  headers.set('Nats-Expected-Stream', `${stream}_`);
  return cluster.connection.request(`${subject}.probe`, '', { headers, timeout: PROBE_TIMEOUT_MS });
}

/**
 * Returns why a stream can't be used: exit 78 if asking again is useless, else 69.
 * @param config its other settings if it was being created.
 */
export function cannotUse(
  error: unknown,
  { name, subjects, num_replicas: replicas }: Partial<Config>,
  cluster: Cluster,
): Fatal {
  const refused: Readonly<Record<number, string>> = {
    [SUBJECTS_OVERLAP]: `another stream stores ${subjects?.join()}; if it has your views, name it with --nats-stream, otherwise remove these subjects from it`,
    [NOT_CLUSTERED]: `the server isn't part of a cluster, so it can't have ${replicas} replicas; leave out --nats-replicas`,
  };
  const isUnanswered = error instanceof cluster.client.errors.TimeoutError;
  const isOff = (error as Error).name === 'JetStreamNotEnabled';
  const why = isUnanswered
    ? "JetStream doesn't answer; check that most of the servers are up"
    : isOff
      ? "JetStream is off; enable it in the servers' configuration"
      : (refused[apiErrorOf(error, cluster)?.code ?? 0] ?? errorText(error));
  return new Fatal(
    isOff || isRefusal(error, cluster) ? EXIT.badConfiguration : EXIT.unavailable,
    `Can't use stream ${name} of the NATS cluster at ${cluster.servers.join(', ')}: ${why}`,
  );
}

/** Returns the error if it is an answer of JetStream. */
const apiErrorOf = (error: unknown, { client }: Cluster) =>
  error instanceof client.JetStreamApiError ? error : undefined;

/** Returns whether asking again is useless. */
function isRefusal(error: unknown, cluster: Cluster): boolean {
  const answer = apiErrorOf(error, cluster);
  if (answer !== undefined) {
    return answer.status !== UNAVAILABLE && answer.code !== NO_SUITABLE_PEERS;
  }
  return error instanceof cluster.client.errors.PermissionViolationError;
}
