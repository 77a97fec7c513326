import { errorText } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { MINUTE_MS, sleep } from '../base/time.ts';
import type { CollectorState } from './health.ts';
import { RefusalLog } from './refusal-log.ts';
import { type Judged, type JudgedReason, judgeAll } from './state.ts';

interface Minutely {
  readonly snapshot: () => CollectorState;
  /** Never rejects. */
  readonly save: () => Promise<void>;
  /** Returns the fix, with its command, in one line. */
  readonly fixFor: (reason: JudgedReason, judged: Judged) => string;
  /** Returns why viewlog can't create files in its data directory. */
  readonly directoryWarning: () => Promise<string | undefined>;
  readonly log: Log;
}

/**
 * Once a minute, saves the counts and logs which projects' views begin to be refused or are
 * accepted again, and whether viewlog can no longer create files.
 * @returns a function that stops the checks and resolves once the counts are saved for the last
 *   time.
 */
export function everyMinute(options: Minutely): () => Promise<void> {
  const { snapshot, save, fixFor, directoryWarning, log } = options;
  const ending = new AbortController();
  let warned: string | undefined;
  const refusalLog = new RefusalLog(fixFor, log);
  const run = async (): Promise<void> => {
    for (let isLast = false; !isLast;) {
      await sleep(MINUTE_MS, ending.signal);
      isLast = ending.signal.aborted;
      await save();
      try {
        const state = snapshot();
        if (isLast) return;
        await judgeAll(state, (one) => refusalLog.update(one, state));
        const warning = await directoryWarning();
        if (warning !== undefined && warning !== warned) log.warn(warning);
        if (warning === undefined && warned)
          log.info('viewlog can create files in its data directory again');
        warned = warning;
      } catch (error) {
        log.error(
          `Can't check for refused views: ${errorText(error)}; viewlog will try again in a minute`,
        );
      }
    }
  };
  const running = run();
  return () => {
    ending.abort();
    return running;
  };
}
