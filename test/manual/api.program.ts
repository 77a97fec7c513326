import { expect, it } from 'vitest';
import { blocksOf, MANUAL, read } from '../support/documents.ts';
import { startViewlog } from '../support/viewlog.ts';

// The exchange that the API page shows, against the program.

interface Message {
  readonly first: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

function messageOf(text: string): Message {
  const [head = '', body = ''] = text.trimEnd().split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  return { first, body, headers: Object.fromEntries(lines.map((line) => line.split(': '))) };
}

const without = (names: string[], headers: HeadersInit): Record<string, string> =>
  Object.fromEntries(Array.from(new Headers(headers)).filter(([name]) => !names.includes(name)));

const MESSAGES = blocksOf(read(`${MANUAL}/api.md`))
  .filter(({ language }) => language === 'http')
  .map(({ text }) => messageOf(text));

it('the exchange of the API page is what viewlog answers', async () => {
  const [request, accepted, refused] = MESSAGES;
  const viewlog = await startViewlog();
  const answersAsShown = async (body: string, shown: Message): Promise<void> => {
    const headers = without(['host'], request!.headers);
    const answer = await fetch(`${viewlog.url}/view`, { method: 'POST', headers, body });
    const names = without(['date', 'connection', 'keep-alive'], answer.headers);
    expect(shown.first).toBe(`HTTP/1.1 ${answer.status} ${answer.statusText}`);
    expect(without([], shown.headers)).toStrictEqual(names);
    const id = /(?<="id":")[^"]+/;
    expect((await answer.text()).replace(id, '')).toBe(shown.body.replace(id, ''));
  };
  await answersAsShown(request!.body, accepted!);
  await answersAsShown(request!.body.replace('"/home"', '"home"'), refused!);
});
