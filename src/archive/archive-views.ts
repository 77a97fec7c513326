import { plural } from '../base/format.ts';
import { EXIT, Fatal } from '../base/exit.ts';
import { LIMITS } from '../base/limits.ts';
import type { Archiver } from './archiver.ts';
import type { LagLog } from './lag.ts';
import type { StreamReader } from './reader.ts';
import { StoppedWaiting } from './until-room.ts';

/** What is looked after when no messages come: free space, moved files, the lag. */
const IDLE_MS = 1_000;

interface Work {
  readonly archiver: Archiver;
  readonly reader: StreamReader;
  readonly lag: LagLog;
  /** The last message that is wanted. */
  readonly until: number;
  readonly stop: AbortSignal;
}

/**
 * Takes messages to the files, to where the stream is `until`, or until it is told to stop.
 * @throws {Fatal} what ends it; exit 74 if it goes on for too long after the stop: the disk hangs.
 */
export const archiveViews = (parts: Work): Promise<void> => inTime(work(parts), parts.stop);

async function work({ archiver, reader, lag, until, stop }: Work): Promise<void> {
  let end = until;
  try {
    await archiver.start();
    while (!stop.aborted && archiver.sequence < end) {
      const taken = await reader.take(IDLE_MS);
      if ('position' in taken) {
        await archiver.goBack(taken);
        if (end !== Infinity) end = Math.min(end, reader.end);
      } else if (taken.length > 0) await archiver.take(taken);
      else await archiver.checkDisk();
      lag.tell(reader.end - archiver.sequence);
    }
  } catch (error) {
    // What is half written is recorded as such, and completed by the next start.
    if (!(error instanceof StoppedWaiting)) throw error;
  }
  await archiver.close();
}

async function inTime(work: Promise<void>, stop: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => {
      const seconds = plural(LIMITS.drainTimeoutMs / 1000, 'second');
      const message = `Stopped before the files were written and synced, after ${seconds}`;
      const fail = (): void => reject(new Fatal(EXIT.ioError, message));
      timer = setTimeout(fail, LIMITS.drainTimeoutMs);
    });
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
