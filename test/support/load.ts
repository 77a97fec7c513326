import { sleep } from '../../src/base/time.ts';
import { FULL_VIEW } from './views.ts';
import { postView } from './viewlog.ts';

const BODY = JSON.stringify({ ...FULL_VIEW, pn: 'ü'.repeat(200) });
/** The wait after a refusal. Without it, a client would send thousands of views per second. */
const REST_MS = 20;

export type Load = ReturnType<typeof startLoad>;

/**
 * Starts clients that send one view after the other until they are stopped.
 * @param keepAlive false: every view has its own connection.
 */
export function startLoad(url: string, clients: number, keepAlive = true) {
  const answers = {
    /** Ids of the views that were acknowledged. */
    acknowledged: [] as string[],
    /** The codes of the other answers, and `unanswered` if a connection broke before its answer. */
    refused: new Set<string>(),
    refusals: 0,
  };
  const headers = keepAlive ? {} : { connection: 'close' };
  let stopping = false;
  const client = async (): Promise<void> => {
    while (!stopping) {
      const text = await postView(url, BODY, headers)
        .then((answer) => answer.text())
        .catch(() => '{"code":"unanswered"}');
      const { id, code } = JSON.parse(text) as { id?: string; code: string };
      if (id === undefined) {
        answers.refused.add(code);
        answers.refusals += 1;
        await sleep(REST_MS);
      } else answers.acknowledged.push(id);
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, client));
  return {
    answers,
    /** Stops sending and waits for requests in flight. */
    async stop(): Promise<void> {
      stopping = true;
      await ended;
    },
  };
}
