import { formatDuration, formatRoundedSize, plural } from '../../base/format.ts';
import { counter, type Description, type Fact, gauge, samplesBy } from '../../base/description.ts';
import { linesMetrics } from '../store.ts';
import type { StreamStoreState } from './stream-store.ts';

/** Words the state of the stream for the operator's pages. */
export function describeStream(state: StreamStoreState, nowMs: number): Description {
  const { server, connectionLosses, failures, seen } = state.stream;
  const { leader, replicas, lagging, messages, bytes } = seen;
  return {
    warnings: warningsOf(state.stream),
    metrics: [
      ...linesMetrics(state),
      gauge('viewlog_nats_connected', 'Whether there is a connection to a NATS server.', [
        [server === undefined ? 0 : 1],
      ]),
      counter('viewlog_nats_connection_losses_total', 'Connections to NATS servers lost.', [
        [connectionLosses],
      ]),
      counter(
        'viewlog_publish_failures_total',
        'Views not acknowledged, by reason.',
        samplesBy('reason', failures),
      ),
      gauge('viewlog_stream_has_leader', 'Whether a server leads the stream.', [
        [leader === undefined ? 0 : 1],
      ]),
      gauge('viewlog_stream_replicas', 'Servers that keep the stream.', [
        [replicas - lagging.length, { state: 'current' }],
        [lagging.length, { state: 'lagging' }],
      ]),
      gauge('viewlog_stream_messages', 'Messages in the stream.', [[messages]]),
      gauge('viewlog_stream_bytes', 'Bytes in the stream.', [[bytes]]),
    ],
    facts: factsOf(state.stream, nowMs),
  };
}

function warningsOf({ name, seen, warnings }: StreamStoreState['stream']): string[] {
  const { lagging, replicas } = seen;
  if (lagging.length === 0) return [...warnings];
  const which = lagging.join(', ');
  return [
    ...warnings,
    `Of the ${plural(replicas, 'server')} that keep stream ${name}, ${which} is down or behind`,
  ];
}

function factsOf(stream: StreamStoreState['stream'], nowMs: number): Fact[] {
  const { name, server, disconnectedSinceMs = nowMs, seen } = stream;
  const { messages, bytes, leader, replicas, lagging } = seen;
  return [
    ['Stream', `${name}, ${plural(messages, 'message')}, ${formatRoundedSize(bytes)}`],
    ['NATS server', server ?? `none for ${formatDuration(nowMs - disconnectedSinceMs)}`],
    ['Led by', leader ?? 'none'],
    ['Up to date', `${replicas - lagging.length} of ${plural(replicas, 'server')}`],
  ];
}
