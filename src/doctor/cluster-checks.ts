// Asks the NATS cluster what a collector asks at its start, and creates and stores nothing there.
import type { StreamConfig } from '@nats-io/jetstream';
import { EXIT, Fatal } from '../base/exit.ts';
import { formatSize, plural } from '../base/format.ts';
import { LIMITS } from '../base/limits.ts';
import * as commands from '../installation/commands.ts';
import type { Installation } from '../installation/installation.ts';
import { type Cluster, connectCluster } from '../jetstream/connect.ts';
import * as inspect from '../jetstream/inspect.ts';
import { cannotUse, findStream, probe } from '../jetstream/stream.ts';
import type { ServeSettings } from '../settings.ts';
import { ownerFault } from '../store/refused/refused-stream.ts';
import type { Facts } from './facts.ts';
import { error, ofMessage, ok, type Verdict, warning } from './finding.ts';

type Reached = Awaited<ReturnType<typeof inspectCluster>>;
/** A cluster, or why it can't be used. */
export type ClusterFacts = Reached | { readonly fault: Fatal };

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

export async function probeCluster(options: ServeSettings): Promise<ClusterFacts | undefined> {
  const { store: address, 'nats-creds': credsFile } = options;
  if (address === undefined) return undefined;
  try {
    const onFatal = (): void => {};
    const cluster = await connectCluster({ address, credsFile, log: SILENT, onFatal });
    const reached = await inspectCluster(cluster, options);
    await cluster.close(LIMITS.closeTimeoutMs);
    return reached;
  } catch (fault) {
    if (fault instanceof Fatal) return { fault };
    throw fault;
  }
}

async function inspectCluster(cluster: Cluster, options: ServeSettings) {
  const { 'nats-stream': name, 'nats-replicas': replicas, 'max-view': viewBytesMax } = options;
  const denied = new Set<string>();
  const attempt = <T>(asked: Promise<T>): Promise<T | Error> =>
    asked.catch((failure: Error) => {
      const denial = cluster.denialIn(failure);
      if (denial !== undefined) denied.add(denial.message);
      return failure;
    });
  const find = async (stream: string, subject: string) => {
    const fromMs = Date.now();
    const found = await attempt(findStream(cluster, stream));
    const toMs = Date.now();
    // The servers refuse a request without settings, if they permit it at all.
    const create = `$JS.API.STREAM.CREATE.${stream}`;
    if (found === undefined) await attempt(cluster.connection.request(create));
    await attempt(probe(cluster, stream, subject));
    if (found instanceof Error) return { fault: found };
    // Servers report their time since version 2.10.
    const serverMs = Date.parse((found as { ts?: string } | undefined)?.ts ?? '');
    return { info: found, clockMs: Math.max(0, fromMs - serverMs, serverMs - toMs) };
  };
  const { info: stream, fault, clockMs = NaN } = await find(name, inspect.VIEWS);
  const unusable = fault && denied.size === 0 ? cannotUse(fault, { name }, cluster) : undefined;
  const isKept = options['max-refused'] > 0;
  const refused = isKept ? (await find(`${name}_REFUSED`, 'refused')).info : undefined;
  const { server = '', version, warnings, connection } = cluster;
  const needs = { replicas, viewBytesMax, payloadMax: connection.info?.max_payload ?? Infinity };
  return { server, version, warnings, denied, name, stream, unusable, refused, needs, clockMs };
}

/**
 * Makes a check that runs only if the cluster was reached. Many of its findings have no fix of
 * their own, because they are messages of `serve`, and most of those say what to do.
 */
const reached =
  (check: (cluster: Reached, of: Installation) => readonly Verdict[]) =>
  ({ cluster, of }: Facts): readonly Verdict[] =>
    cluster === undefined || 'fault' in cluster ? [] : check(cluster, of);

export function checkCluster({ cluster }: Facts): readonly Verdict[] {
  if (cluster === undefined) return [];
  if (!('fault' in cluster)) {
    const { server, version, warnings } = cluster;
    if (warnings.length > 0) return warnings.map((text) => ofMessage('warning', text));
    return [ok(`NATS server ${server}, version ${version}, answers.`)];
  }
  const { message, exitCode } = cluster.fault;
  const fix = 'Check the address, the firewall, and whether the servers are running.';
  return [ofMessage('error', message, { fix: exitCode === EXIT.unavailable ? fix : undefined })];
}

export const checkPermissions = reached(({ denied, unusable }) => {
  if (denied.size > 0) return Array.from(denied, (text) => ofMessage('error', text));
  if (unusable !== undefined) return [];
  return [ok('The NATS user has the permissions that a collector needs.')];
});

export const checkStream = reached(({ name, stream, unusable, refused, needs, denied }) => {
  if (unusable !== undefined) {
    return [ofMessage('error', unusable.message, { fix: 'Check JetStream on the servers.' })];
  }
  const notOurs = refused && ownerFault(refused.config);
  if (notOurs !== undefined) return [ofMessage('error', notOurs)];
  if (stream === undefined) {
    const { replicas } = needs;
    const servers = plural(replicas ?? inspect.REPLICAS, 'server');
    const fewer = replicas === undefined ? ', or on 1 if fewer than 3 are up' : '';
    const what = `Stream ${name} doesn't exist yet. A collector creates it on ${servers}${fewer}.`;
    return denied.size > 0 ? [] : [ok(what)];
  }
  const { messages, bytes, replicas, lagging } = inspect.seenOf(stream);
  const unfit = inspect.configFault(stream.config);
  if (unfit !== undefined) {
    const fix = isFixed(stream.config) ? RENAME : edit(name);
    return [ofMessage('error', `Stream ${name} can't store views: ${unfit}`, { fix })];
  }
  const down = inspect.groupFault(inspect.seenOf(stream));
  if (down !== undefined) {
    return [
      error(`Views are refused, because ${down}.`, 'Start the servers that store the stream.'),
    ];
  }
  if (!inspect.hasSpaceFor(stream, needs.viewBytesMax)) {
    return [
      error(
        'Views are refused, because the stream is full.',
        edit(name, "Raise this stream's limits"),
      ),
    ];
  }
  const what = `Stream ${name} has ${plural(messages, 'message')} (${formatSize(bytes)})`;
  const servers = plural(replicas, 'server');
  if (lagging.length === 0) return [ok(`${what} on ${servers}. No server is down or behind.`)];
  const behind = `${what}. Down or behind: ${lagging.join(', ')}.`;
  return [warning(behind, 'Start each server that is down.')];
});

/** Returns whether the fault is in a setting that the servers never change. */
const isFixed = ({
  storage,
  retention,
  sealed,
}: Pick<StreamConfig, 'storage' | 'retention' | 'sealed'>) =>
  storage === 'memory' || retention === 'workqueue' || sealed;

const RENAME =
  "NATS can't change this setting. Name a new stream with --nats-stream; viewlog creates it.";

const edit = (name: string, change = 'Change this setting'): string =>
  `${change}, or name another stream with --nats-stream. To edit this stream:\n  nats stream edit ${name}`;

export const checkSettings = reached(({ name, stream, needs }) => {
  const tooSmall = inspect.limitFault(stream?.config ?? { name }, needs);
  if (tooSmall !== undefined) {
    return [ofMessage('error', tooSmall, { fix: 'Raise the limit or lower --max-view.' })];
  }
  const warnings = stream === undefined ? [] : inspect.configWarnings(stream, needs);
  if (warnings.length > 0) {
    return warnings.map((text) => ofMessage('warning', text, { fix: edit(name) }));
  }
  if (stream === undefined) return [ok('The NATS servers accept the largest view.')];
  return [ok('The largest view fits, no limit drops views, and there are enough replicas.')];
});

const CLOCK_MS_MAX = 2_000;

export const checkClock = reached(({ clockMs }, { hasSudo }) => {
  if (Number.isNaN(clockMs)) return [];
  if (clockMs <= CLOCK_MS_MAX)
    return [ok("This machine's clock agrees with that of the stream's server.")];
  const seconds = plural(Math.round(clockMs / 1000), 'second');
  const what = `This machine's clock differs by ${seconds} from that of the stream's server.`;
  const sync = commands.asRoot('timedatectl set-ntp true', hasSudo);
  const fix = 'Synchronise both clocks. On this machine, run:';
  return [warning(`${what} This machine's clock decides a view's day.`, fix, sync)];
});
