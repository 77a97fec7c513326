import { expect, it, onTestFinished } from 'vitest';
import { idOf } from '../../src/archive/message.ts';
import { StreamReader } from '../../src/archive/reader.ts';
import {
  type Known,
  MessagesLost,
  type ArchivedStream,
} from '../../src/archive/archived-stream.ts';
import { memoryLog } from '../support/memory-log.ts';
import { storedLines } from '../support/stored-lines.ts';
import { until } from '../support/viewlog.ts';

const CREATED = 'then';
const START: Known = { created: CREATED, sequence: 0, reached: 0 };

/** A stream that does as the test says, under a connection that stands. */
class Script {
  lines: string[];
  fetches = 0;

  constructor(lines: readonly string[]) {
    this.lines = [...lines];
  }

  #id(sequence: number): string | undefined {
    const line = this.lines[sequence - 1];
    return line === undefined ? undefined : idOf(Buffer.from(line));
  }

  get stream(): ArchivedStream {
    const ends = async () => ({ created: CREATED, first: 1, last: this.lines.length });
    const getConsumerFromInfo = ({ from }: { from: number }) => {
      let [next, delivered] = [from, 0];
      return {
        fetch: async () => {
          this.fetches += 1;
          await new Promise((resolve) => setTimeout(resolve, 5));
          const messages = this.lines.slice(next - 1).map((line, i) => ({
            info: { deliverySequence: delivered + i + 1, streamSequence: next + i, pending: 0 },
            data: Buffer.from(line),
          }));
          next += messages.length;
          delivered += messages.length;
          return messages;
        },
      };
    };
    const client = { jetstream: () => ({ consumers: { getConsumerFromInfo } }) };
    const script = {
      name: 'VIEWS',
      cluster: { client, connection: {}, server: 'here', losses: 0 },
      ends,
      verify: async ({ sequence, id, reached }: Known) => {
        if (this.lines.length < reached || (id !== undefined && this.#id(sequence) !== id)) {
          throw new MessagesLost(65, 'lost');
        }
        return ends();
      },
      has: async ({ sequence, id }: Known) => this.#id(sequence) === id,
      isGone: async () => false,
      consumerFrom: async (from: number) => ({ from, num_pending: this.lines.length - from + 1 }),
    };
    return script as unknown as ArchivedStream;
  }
}

/** All that the reader gives from some time on, as numbers and ids, until the test is over. */
function readAll(script: Script, known = START, from = Promise.resolve()) {
  const reader = new StreamReader({ stream: script.stream, known, log: memoryLog() });
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
    reader.close();
  });
  const given: string[] = [];
  const work = async (): Promise<void> => {
    await from;
    while (!isOver) {
      const taken = await reader.take(10);
      if ('position' in taken) given.push(`back to ${taken.position.sequence} from ${taken.to}`);
      else for (const { sequence, payload } of taken) given.push(`${sequence} ${idOf(payload!)}`);
    }
  };
  const failed = work().catch((error: unknown) => error);
  return { given, failed };
}

const OLD = storedLines('2026-03-01', 10);
const NEW = storedLines('2026-03-02', 10);
const told = (lines: readonly string[], first = 1): string[] =>
  lines.map((line, i) => `${first + i} ${idOf(Buffer.from(line))}`);

it.each([
  ['fewer than before', 8, 1],
  ['as many as before', 8, 2],
  ['more than before', 8, 10],
  ['all of them others', 0, 10],
])('a reader notices a stream that has become another: %s', async (_, same, count) => {
  const script = new Script(OLD);
  const { given } = readAll(script);
  await until(() => given.length === 10);
  // Within one turn: no consumer, nor connection, notices anything.
  script.lines = [...OLD.slice(0, same), ...NEW.slice(0, count)];
  await until(() => given.at(-1) === told(NEW.slice(0, count), same + 1).at(-1));
  const [back, ...after] = given.slice(given.findIndex((one) => one.startsWith('back')));
  expect(back).toMatch(new RegExp(`^back to ${same} from `));
  expect(after).toStrictEqual(told(NEW.slice(0, count), same + 1));
  expect(given.slice(0, 10)).toStrictEqual(told(OLD));
});

it('a reader gives what it had read before it goes back', async () => {
  const script = new Script(OLD);
  let take!: () => void;
  const { given } = readAll(script, START, new Promise<void>((resolve) => (take = resolve)));
  await until(() => script.fetches > 1);
  script.lines = [...OLD.slice(0, 8), ...NEW];
  const { fetches } = script;
  await until(() => script.fetches > fetches + 3);
  take();
  await until(() => given.at(-1) === told(NEW, 9).at(-1));
  const at = given.findIndex((one) => one.startsWith('back to 8 '));
  expect(given.slice(0, 10)).toStrictEqual(told(OLD));
  expect(at).toBeGreaterThanOrEqual(10);
  expect(given.slice(at + 1)).toStrictEqual(told(NEW, 9));
});

it('a reader ends where it does not know how far to go back', async () => {
  const position = { sequence: 5, id: idOf(Buffer.from(OLD[4]!)) };
  const script = new Script(OLD);
  const { given, failed } = readAll(script, { created: CREATED, ...position, reached: 5 });
  await until(() => given.length === 5);
  script.lines = NEW;
  expect(await failed).toBeInstanceOf(MessagesLost);
});

it('a reader ends where another process has seen more than it has read', async () => {
  const script = new Script(OLD);
  const { failed } = readAll(script, { ...START, reached: 12 });
  expect(await failed).toBeInstanceOf(MessagesLost);
});
