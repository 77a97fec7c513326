import type { StreamConfig } from '@nats-io/jetstream';
import { EXIT, Fatal, errorText } from '../../base/exit.ts';
import { MiB } from '../../base/format.ts';
import { printable } from '../../base/text.ts';
import { DAY_MS } from '../../base/time.ts';
import { Publisher } from '../../jetstream/publisher.ts';
import { managerOf, type PrepareOptions, prepareStream, probe } from '../../jetstream/stream.ts';
import { createStamper, type Stamp } from '../stamp.ts';
import type { Dropped, RefusedStore, RefusedView } from '../store.ts';
import { refusedLine } from './refused-line.ts';

interface RefusedStreamOptions extends PrepareOptions {
  readonly stream: string;
  /** 0: store none. */
  readonly maxBytes: number;
  /** 0: forever. */
  readonly keepDays: number;
  readonly isListed: (projectId: string) => boolean;
  readonly now: () => number;
}

/** Enough memory for a burst of views that wait for their acknowledgement. */
const WAITING_BYTES_MAX = MiB;
const SUBJECTS = 'refused.>';
const DAY_NS = DAY_MS * 1e6;

/**
 * Stores refused views in a stream of their own, as `refused.<project>` or, for unlisted ids,
 * `refused.unlisted`. The stream drops its oldest messages at its limits. Best effort: no error
 * reaches a client or ends the process, and views that aren't stored are counted.
 * @throws {Fatal} exit 78 if the stream belongs to another program, or a permission is missing.
 */
export async function createRefusedStream(options: RefusedStreamOptions) {
  const { cluster, stream, maxBytes, keepDays, log } = options;
  const limits = { max_bytes: maxBytes, max_age: keepDays * DAY_NS };
  try {
    if (maxBytes > 0) {
      const { config } = await prepareStream(options, {
        name: stream,
        subjects: [SUBJECTS],
        discard: 'old',
        ...limits,
      });
      const fault = ownerFault(config);
      if (fault !== undefined) throw new Fatal(EXIT.badConfiguration, fault);
      const hasLimits = config.max_bytes === limits.max_bytes && config.max_age === limits.max_age;
      const { streams } = await managerOf(cluster);
      if (!hasLimits) await streams.update(stream, { ...config, ...limits });
      // Finds out whether viewlog may publish there.
      await probe(cluster, stream, 'refused').catch((error: unknown) => {
        cluster.refuseDenied(error);
      });
    }
  } catch (error) {
    cluster.refuseDenied(error);
    if (error instanceof Fatal && error.exitCode === EXIT.badConfiguration) throw error;
    const why = printable(errorText(error));
    log.warn(`Refused views are lost until stream ${stream} can store them: ${why}`);
  }
  return new RefusedStream(options);
}

/**
 * Returns why the stream isn't viewlog's own. In another program's stream, viewlog's limits would
 * delete that program's messages.
 */
export function ownerFault({ name, subjects, discard }: StreamConfig): string | undefined {
  if (subjects.join() === SUBJECTS && discard === 'old') return undefined;
  return (
    `Stream ${name} doesn't belong to viewlog: it has the subjects ${subjects.join(', ')} and ` +
    `discard ${discard} (viewlog needs ${SUBJECTS} and discard old). If no other program uses it, ` +
    'correct it; otherwise, store no refused views, with --max-refused 0'
  );
}

class RefusedStream implements RefusedStore {
  readonly #options: RefusedStreamOptions;
  readonly #stamp: () => Stamp;
  readonly #publisher: Publisher;
  #isClosing = false;
  readonly #counts = { storedLines: 0, storedBytes: 0, droppedLines: 0 };

  constructor(options: RefusedStreamOptions) {
    const { cluster, stream, now } = options;
    this.#options = options;
    this.#publisher = new Publisher(cluster, stream);
    this.#stamp = createStamper(now);
  }

  keep(view: RefusedView, onDropped: (why: Dropped) => void = () => {}): void {
    const why = this.#obstacleTo(view);
    if (why === undefined) return void this.#publish(view, onDropped);
    this.#counts.droppedLines += 1;
    onDropped(why);
  }

  /** Returns why the view can't be published, if so. */
  #obstacleTo({ text }: RefusedView): Dropped | undefined {
    const { cluster, maxBytes } = this.#options;
    if (maxBytes === 0) return 'off';
    if (this.#isClosing || cluster.server === undefined) return 'failed';
    return this.#publisher.bytes + text.length > WAITING_BYTES_MAX ? 'too-many' : undefined;
  }

  /** Views that were sent may still be stored but count as dropped. */
  close(): void {
    this.#isClosing = true;
    this.#publisher.close();
  }

  state() {
    return { ...this.#counts };
  }

  async #publish(view: RefusedView, onDropped: (why: Dropped) => void): Promise<void> {
    const { project } = view;
    const stamp = this.#stamp();
    const line = Buffer.from(refusedLine(stamp, view)).subarray(0, -1); // without its newline
    const isListed = project !== undefined && this.#options.isListed(project);
    const subject = `refused.${isListed ? project : 'unlisted'}`;
    if ((await this.#publisher.publish(subject, line, stamp.id)) === undefined) {
      this.#counts.storedLines += 1;
      this.#counts.storedBytes += line.length;
    } else {
      this.#counts.droppedLines += 1;
      onDropped('failed');
    }
  }
}
