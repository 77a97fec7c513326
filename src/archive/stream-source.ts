/** A message of the stream. Sequences ascend from 1; removed messages leave gaps. */
export interface StreamMessage {
  readonly sequence: number;
  readonly data: Uint8Array;
}

export interface StreamEnds {
  /**
   * The time at which the stream was created. A later stream of the same name is another stream.
   */
  readonly created: string;
  /** The sequence of the first message that the stream still has, and of the last one. */
  readonly first: number;
  readonly last: number;
}

/** The stream as the archive reads it. Every call rejects if the servers do not answer. */
export interface StreamSource {
  readonly name: string;
  ends(): Promise<StreamEnds>;
  /** Returns the first message of the stream with this sequence or a later one. */
  next(sequence: number): Promise<StreamMessage | undefined>;
  /**
   * Yields the messages after `after` in the stream's order, as they come, and an empty list when
   * none has come for a while. Ends, or throws, as soon as the connection is lost or the servers
   * have forgotten the reader: they may have lost messages, so check before reading on.
   */
  read(after: number): AsyncIterable<readonly StreamMessage[]>;
}
