import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { formatCount, formatSize, formatSizeOption, plural } from '../base/format.ts';

/** A stream of views when it was last seen. */
export type StreamSeen = ReturnType<typeof seenOf>;

/** Views are published to `views.<project>`. */
export const VIEWS = 'views';

/** A leader and its followers hear from each other every second. */
const SILENT_NS = 5e9;

export function seenOf({ state, cluster, config }: StreamInfo) {
  const lagging = (cluster?.replicas ?? []).filter(
    ({ current, offline, active }) => !current || offline || (active ?? 0) >= SILENT_NS,
  );
  return {
    messages: state.messages,
    bytes: state.bytes,
    /**
     * The server that leads the stream; `undefined` while there is none. A server without a cluster
     * names none.
     */
    leader: cluster === undefined ? 'itself' : cluster.leader || undefined,
    /**
     * The number of servers that store the stream, and the names of those that are down or behind.
     */
    replicas: config.num_replicas,
    lagging: lagging.map(({ name }) => name),
  };
}

/** Returns why the stream can't acknowledge views now; `undefined` if it can. */
export function groupFault({ leader, replicas, lagging }: StreamSeen): string | undefined {
  if (leader === undefined) return 'the stream has no leader';
  return replicas - lagging.length > replicas / 2 ? undefined : 'the stream has no quorum';
}

/** Returns why views must not go to the stream; `undefined` if they may. */
export function configFault(config: StreamConfig): string | undefined {
  const { storage, retention, no_ack: noAck, sealed } = config;
  if (storage === 'memory') return 'it keeps messages in memory (storage: memory)';
  if (retention !== 'limits') return `it drops messages that were read (retention: ${retention})`;
  if (sealed) return 'it is sealed';
  if (noAck) return 'it acknowledges nothing (no_ack)';
  // A stream that other streams feed has no subjects.
  const subjects = (config.subjects as string[] | undefined) ?? [];
  if (subjects.some((subject) => /^(>|(views|\*)\.[*>])$/.test(subject))) return undefined;
  const why =
    subjects.length === 0
      ? 'it has no subjects'
      : `its subjects (${subjects.join(', ')}) don't include ${VIEWS}.<project>`;
  return `${why}; add "${VIEWS}.>"`;
}

/** Returns the fault of a configuration with its fix. */
export const withStreamFix = (fault: string): string =>
  fault.includes(';') ? fault : `${fault}; name another stream with --nats-stream`;

/** A collector's requirements of the servers and of a stream. */
export interface StreamNeeds {
  /** The operator's number; `undefined`: three, if the cluster has three servers. */
  readonly replicas: number | undefined;
  /** Largest line, its newline included. */
  readonly viewBytesMax: number;
  /** The largest message that the servers accept, in bytes. */
  readonly payloadMax: number;
}

/** The bytes of a message in addition to its payload: subject and headers. */
const HEADER_BYTES = 128;
export const REPLICAS = 3;

/** Returns which limits are too small for the largest view; `undefined` if none is. */
export function limitFault(
  { name, max_msg_size: size = -1, max_bytes: bytes = -1 }: Partial<StreamConfig>,
  { viewBytesMax, payloadMax }: StreamNeeds,
): string | undefined {
  const needed = viewBytesMax + HEADER_BYTES;
  const tooSmall = (what: string, max: number, limit: string): string =>
    `${what} at most ${formatSize(max)} (${limit}), but --max-view ` +
    `${formatSizeOption(viewBytesMax)} needs ${formatCount(needed)} bytes, headers included; raise the limit or lower --max-view`;
  if (payloadMax < needed) {
    return tooSmall('The NATS servers accept messages of', payloadMax, 'max_payload');
  }
  if (size > 0 && size < needed) {
    return tooSmall(`Stream ${name} accepts messages of`, size, 'max_msg_size');
  }
  if (bytes > 0 && bytes < needed) return tooSmall(`Stream ${name} holds`, bytes, 'max_bytes');
  return undefined;
}

/** Returns whether the stream's limits allow a view of this size. */
export function hasSpaceFor({ config, state }: StreamInfo, viewBytesMax: number): boolean {
  if (config.discard === 'old') return true;
  const { max_bytes: bytes, max_msgs: messages } = config;
  const hasBytes = !(bytes > 0) || state.bytes + viewBytesMax + HEADER_BYTES <= bytes;
  return hasBytes && (!(messages > 0) || state.messages < messages);
}

/** Returns warnings about a stream that accepts views. */
export function configWarnings(
  { config, cluster }: Pick<StreamInfo, 'config' | 'cluster'>,
  needs: StreamNeeds,
): string[] {
  const { name, discard, num_replicas: copies, discard_new_per_subject: isEach } = config;
  const tooSmall = limitFault(config, needs);
  const warnings = tooSmall === undefined ? [] : [tooSmall];
  const dropsOld = discard === 'old' ? (['max_msgs', 'max_bytes'] as const) : [];
  const perSubject = isEach ? [] : ['max_msgs_per_subject' as const];
  const set = [...dropsOld, ...perSubject, 'max_age' as const].filter((one) => config[one] > 0);
  if (set.length > 0) {
    warnings.push(`Stream ${name} drops its oldest views at a limit (${set.join(', ')})`);
  }
  if (isEach && config.max_msgs_per_subject > 0) {
    const most = plural(config.max_msgs_per_subject, 'view');
    const limit = `holds at most ${most} per project and refuses the rest (max_msgs_per_subject)`;
    warnings.push(`Stream ${name} ${limit}`);
  }
  const stored = `Stream ${name} is stored on ${plural(copies, 'server')}`;
  const { replicas } = needs;
  if (replicas !== undefined && replicas !== copies) {
    const todo = "change the stream's replicas or --nats-replicas";
    warnings.push(`${stored}, not ${replicas} (--nats-replicas); ${todo}`);
  } else if (replicas === undefined && copies < REPLICAS && cluster?.name !== undefined) {
    // A standalone server has no cluster name.
    const todo = `nats stream edit ${name} --replicas ${REPLICAS}`;
    warnings.push(
      `${stored} of cluster "${cluster.name}"; if the cluster has ${REPLICAS} servers, run: ${todo}`,
    );
  }
  return warnings;
}
