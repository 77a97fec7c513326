import { Agent, request } from 'node:http';
import { FULL_VIEW } from './views.ts';

/** What a client was told about the views it sent. */
export interface Told {
  /** Ids of the views that were acknowledged. */
  readonly acknowledged: string[];
  /** How often each other answer came, by its code. */
  readonly refused: Map<string, number>;
  /** Views whose connection broke before an answer. */
  unanswered: number;
}

export interface Load {
  readonly told: Told;
  /** Ends when every client has stopped. */
  readonly ended: Promise<unknown>;
  /** Sends no more, and waits for what is under way. */
  stop(): Promise<void>;
}

const BODY = JSON.stringify({ ...FULL_VIEW, pn: 'ü'.repeat(200) });

/**
 * Clients that send one view after the other, each on a connection of its own, until they are
 * stopped or have sent `viewsMax` together.
 * @param restMs how long one waits that was refused.
 * @param keepAlive false: each view has a connection of its own.
 */
export function startLoad(
  url: string,
  clients: number,
  viewsMax = Infinity,
  restMs = 0,
  keepAlive = true,
): Load {
  const told: Told = { acknowledged: [], refused: new Map(), unanswered: 0 };
  const agent = new Agent({ keepAlive, maxSockets: clients });
  let stopping = false;
  let sent = 0;
  const client = async (): Promise<void> => {
    while (!stopping && sent++ < viewsMax) {
      const answer = await send(url, agent);
      if (answer === undefined) {
        told.unanswered += 1;
        // Whoever does not listen any more is not asked a thousand times a second.
        await new Promise((resolve) => setTimeout(resolve, 20));
      } else if ('id' in answer) told.acknowledged.push(answer.id);
      else {
        told.refused.set(answer.code, (told.refused.get(answer.code) ?? 0) + 1);
        if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
      }
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, client));
  return {
    told,
    ended,
    async stop() {
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
        // An answer cut short is none, whatever its status was.
        resolve(response.complete ? (JSON.parse(text) as Answer) : undefined);
      });
    });
    sent.on('error', () => resolve(undefined));
    sent.end(BODY);
  });
}
