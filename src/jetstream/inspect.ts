import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { plural } from '../base/format.ts';

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

/** Returns why the stream cannot acknowledge views now; `undefined` if it can. */
export function groupFault({ leader, replicas, lagging }: StreamSeen): string | undefined {
  if (leader === undefined) return 'the stream has no leader';
  return replicas - lagging.length > replicas / 2 ? undefined : 'the stream has no quorum';
}

/** Returns why views must not go to the stream; `undefined` if they may. */
export function configFault(config: StreamConfig): string | undefined {
  const { storage, retention, no_ack: noAck } = config;
  if (storage === 'memory') return 'it keeps messages in memory (storage: memory)';
  if (retention !== 'limits') return `it drops messages that were read (retention: ${retention})`;
  if (noAck) return 'it acknowledges nothing (no_ack)';
  // A stream that other streams feed has none.
  const subjects = (config.subjects as string[] | undefined) ?? [];
  if (subjects.some((subject) => /^(>|(views|\*)\.[*>])$/.test(subject))) return undefined;
  return `its subjects (${subjects.join(', ')}) do not include ${VIEWS}.<project>; add ${VIEWS}.>`;
}

/** Returns what the operator should know about a stream that takes views. */
export function configWarnings(config: StreamConfig, replicas: number | undefined): string[] {
  const { name, discard, num_replicas: copies } = config;
  const warnings: string[] = [];
  const dropsOld = discard === 'old' ? (['max_msgs', 'max_bytes'] as const) : [];
  const limits = [...dropsOld, 'max_msgs_per_subject' as const, 'max_age' as const];
  const set = limits.filter((limit) => config[limit] > 0);
  if (set.length > 0) {
    warnings.push(`Stream ${name} drops its oldest views at a limit (${set.join(', ')})`);
  }
  if (replicas !== undefined && replicas !== copies) {
    const asked = `not --nats-replicas ${replicas}; change the number on the servers`;
    warnings.push(`Stream ${name} is stored on ${plural(copies, 'server')}, ${asked}`);
  }
  return warnings;
}
