import { MiB } from '../base/format.ts';

/** A message of the stream. Sequences ascend from 1; removed messages leave gaps. */
export interface StreamMessage {
  readonly sequence: number;
  /** Collectors publish views to `views.<project>`. */
  readonly subject: string;
  readonly data: Uint8Array;
}

/** The first and the last sequence of a run of messages. */
export type Run = readonly [from: number, to: number];

export interface StreamEnds {
  /**
   * When the stream was created. A stream of the same name that was created later is another
   * stream.
   */
  readonly created: string;
  /** The sequence of the first message that the stream still has, and of the last one. */
  readonly first: number;
  readonly last: number;
}

/** The stream as the archive reads it. Every call rejects if the servers don't answer. */
export interface StreamSource {
  readonly name: string;
  /** Asks the server that leads the stream. */
  ends(): Promise<StreamEnds>;
  /**
   * Asks the server that leads the stream for its first message below `views.` with this sequence
   * or a later one.
   */
  next(sequence: number): Promise<StreamMessage | undefined>;
  /**
   * Yields the messages after `after` in the stream's order, as they come, and an empty list when
   * no message has come for a while. Any replica may send them, and a replica that is behind may
   * leave some out. Ends or throws as soon as the connection is lost or the servers have lost the
   * reader: the servers may have lost messages, so check the stream before reading on.
   */
  read(after: number): AsyncIterable<readonly StreamMessage[]>;
}

/**
 * Messages come from the leader one at a time. A batch ends at this many messages or bytes and is
 * then written.
 */
const LEADER_MESSAGES = 500;
const LEADER_BYTES = 8 * MiB;

/** Yields the views that the leader has in a run, in batches. */
export async function* readFromLeader(source: StreamSource, [from, to]: Run) {
  let messages: StreamMessage[] = [];
  let bytes = 0;
  for (let next = from; next <= to;) {
    const found = await source.next(next);
    if (found === undefined || found.sequence > to) break;
    messages.push(found);
    bytes += found.data.length;
    next = found.sequence + 1;
    if (messages.length < LEADER_MESSAGES && bytes < LEADER_BYTES) continue;
    yield messages;
    [messages, bytes] = [[], 0];
  }
  if (messages.length > 0) yield messages;
}
