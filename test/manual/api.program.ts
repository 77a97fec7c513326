import { expect, it } from 'vitest';
import { blocksOf, MANUAL, read } from '../support/documents.ts';
import { startViewlog } from '../support/viewlog.ts';

// Compares the answers on the API page with those of the program.

const MESSAGES = blocksOf(read(`${MANUAL}/api.md`))
  .filter(({ language }) => language === 'http')
  .map(({ text }) => {
    const [head = '', body = ''] = text.trimEnd().split('\n\n');
    const [first = '', ...lines] = head.split('\n');
    const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]));
    return { first, headers, body };
  });

it('viewlog answers as the API page shows', async () => {
  const [request, accepted, refused] = MESSAGES;
  const { url } = await startViewlog();
  for (const [body, shown] of [
    [request!.body, accepted!],
    [request!.body.replace('"/home"', '"home"'), refused!],
  ] as const) {
    const answer = await fetch(`${url}/view`, { method: 'POST', headers: request!.headers, body });
    const headers = new Headers(answer.headers);
    for (const name of ['date', 'connection', 'keep-alive']) headers.delete(name);
    expect(shown.first).toBe(`HTTP/1.1 ${answer.status} ${answer.statusText}`);
    expect([...shown.headers]).toStrictEqual([...headers]);
    const id = /(?<="id":")[^"]+/;
    expect((await answer.text()).replace(id, '')).toBe(shown.body.replace(id, ''));
  }
});
