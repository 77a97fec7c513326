import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';

/** A stream of views when it was last seen. */
export interface StreamSeen {
  readonly messages: number;
  readonly bytes: number;
  /** The server that leads the stream; `undefined` while there is none. */
  readonly leader: string | undefined;
  /** How many servers keep the stream, and the names of those that are down or behind. */
  readonly replicas: number;
  readonly lagging: readonly string[];
}

/** Views are published to `views.<project>`. */
export const VIEWS = 'views';

/** A leader and its followers hear from each other every second. */
const SILENT_NS = 5e9;

export function seenOf({ state, cluster, config }: StreamInfo): StreamSeen {
  const followers = cluster?.replicas ?? [];
  const isCurrent = ({ current, offline, active }: (typeof followers)[number]): boolean =>
    current && !offline && (active ?? 0) < SILENT_NS;
  return {
    messages: state.messages,
    bytes: state.bytes,
    // A server without a cluster names none.
    leader: cluster === undefined ? 'itself' : cluster.leader || undefined,
    replicas: config.num_replicas,
    lagging: followers.filter((follower) => !isCurrent(follower)).map(({ name }) => name),
  };
}

/** Returns why the stream cannot acknowledge views now; `undefined` if it can. */
export function groupFault({ leader, replicas, lagging }: StreamSeen): string | undefined {
  if (leader === undefined) return 'the stream has no leader';
  return replicas - lagging.length > replicas / 2 ? undefined : 'the stream has no quorum';
}

/** Returns why views must not go to the stream; `undefined` if they may. */
export function configFault(config: StreamConfig): string | undefined {
  const { storage, retention, no_ack: noAck, sealed, mirror } = config;
  if (storage === 'memory') return 'it keeps messages in memory (storage: memory)';
  if (retention !== 'limits') {
    return `it drops messages that were read (retention: ${retention})`;
  }
  if (mirror !== undefined || sealed) return 'it takes no messages (a mirror, or sealed)';
  if (noAck) return 'it acknowledges nothing (no_ack)';
  // A stream that other streams feed has none.
  const subjects = (config.subjects as string[] | undefined) ?? [];
  if (subjects.some(takesViews)) return undefined;
  return `its subjects (${subjects.join(', ')}) do not take ${VIEWS}.<project>; add ${VIEWS}.>`;
}

const takesViews = (subject: string): boolean => /^(>|(views|\*)\.[*>])$/.test(subject);

/** Returns what the operator should know about a stream that takes views. */
export function configWarnings(
  config: StreamConfig,
  replicas: number | undefined,
): readonly string[] {
  const { name, discard, max_age: age, max_msgs: messages, max_bytes: bytes } = config;
  const warnings: string[] = [];
  const dropsOld = discard === 'old';
  const limits = [
    dropsOld && messages > 0 && 'max_msgs',
    dropsOld && bytes > 0 && 'max_bytes',
    config.max_msgs_per_subject > 0 && 'max_msgs_per_subject',
    age > 0 && 'max_age',
  ].filter((limit) => limit !== false);
  if (limits.length > 0) {
    warnings.push(`Stream ${name} drops its oldest views at a limit (${limits.join(', ')})`);
  }
  if (replicas !== undefined && replicas !== config.num_replicas) {
    const kept = `Stream ${name} is kept by ${config.num_replicas} of the servers`;
    warnings.push(`${kept}, not by --nats-replicas ${replicas}; change it on the servers`);
  }
  return warnings;
}
