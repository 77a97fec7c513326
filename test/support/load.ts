import { Agent, request } from 'node:http';
import { FULL_VIEW } from './views.ts';

/** The answers to a client's views. */
interface Answers {
  /** Ids of the views that were acknowledged. */
  readonly acknowledged: string[];
  /** The number of other answers by code. */
  readonly refused: Map<string, number>;
  /** Views without an answer, because their connection broke first. */
  unanswered: number;
}

export type Load = ReturnType<typeof startLoad>;

const BODY = JSON.stringify({ ...FULL_VIEW, pn: 'ü'.repeat(200) });

/**
 * Starts clients that send one view after the other, each on its own connection, until they are
 * stopped or have sent `viewsMax` together.
 * @param restMs the wait after a refusal.
 * @param keepAlive false: every view has a connection of its own.
 */
export function startLoad(
  url: string,
  clients: number,
  viewsMax = Infinity,
  restMs = 0,
  keepAlive = true,
) {
  const answers: Answers = { acknowledged: [], refused: new Map(), unanswered: 0 };
  const agent = new Agent({ keepAlive, maxSockets: clients });
  let stopping = false;
  let sent = 0;
  const client = async (): Promise<void> => {
    while (!stopping && sent++ < viewsMax) {
      const answer = await send(url, agent);
      if (answer === undefined) {
        answers.unanswered += 1;
        // Otherwise a stopped collector would be asked a thousand times per second.
        await new Promise((resolve) => setTimeout(resolve, 20));
      } else if ('id' in answer) answers.acknowledged.push(answer.id);
      else {
        answers.refused.set(answer.code, (answers.refused.get(answer.code) ?? 0) + 1);
        if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
      }
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, client));
  return {
    answers,
    /** Resolves when every client has stopped. */
    ended,
    /** Stops sending, and waits for requests in flight. */
    async stop(): Promise<void> {
      stopping = true;
      await ended;
      agent.destroy();
    },
  };
}

type Answer = { id: string } | { code: string };

function send(url: string, agent: Agent): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(BODY),
    };
    const sent = request(`${url}/view`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('error', () => resolve(undefined));
      response.on('end', () => {
        // An answer that is cut off counts as no answer, whatever its status.
        resolve(response.complete ? (JSON.parse(text) as Answer) : undefined);
      });
    });
    sent.on('error', () => resolve(undefined));
    sent.end(BODY);
  });
}
