import { createServer, IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { FewHeaders } from '../../src/http/few-headers.ts';
import { listening } from '../support/listening.ts';

const ASKED = [
  'access-control-request-headers',
  'access-control-request-method',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'origin',
  'te',
  'transfer-encoding',
  'viewlog-replay',
];

/**
 * Returns the headers that a server reads from a request's header lines, and the server's answer.
 */
async function headersOf(
  request: string,
  Request: typeof IncomingMessage,
): Promise<{ readonly headers: IncomingHttpHeaders | undefined; readonly answer: string }> {
  let headers: IncomingHttpHeaders | undefined;
  const server = createServer({ IncomingMessage: Request }, (incoming, outgoing) => {
    headers = incoming.headers;
    incoming.resume();
    outgoing.sendDate = false;
    outgoing.end('taken');
  });
  const socket = connect(await listening(server), '127.0.0.1');
  socket.end(request);
  // Node adds a date to the answers that it gives without the handler.
  const answer = (await text(socket)).replace(/^Date: .*\r\n/m, '');
  return { answer, headers };
}

const PLAIN = ASKED.filter((name) => !/^(te|tr|ex|content-length)/.test(name));

it.each<[string, string[], version?: string]>([
  ['every header that viewlog reads', [...PLAIN, 'content-length'].map((name) => `${name}: 1`)],
  ['headers in mixed case', ['HOST: a', 'oRiGiN: b', 'Content-TYPE: c', 'Te: trailers']],
  ['every header twice', [...PLAIN, 'te'].flatMap((name) => [`${name}: a`, `${name}: b`])],
  ['an empty header', ['Host:', 'Origin:', 'Origin: a']],
  [
    'headers named like properties of objects',
    ['Host: a', 'hasOwnProperty: b', '__proto__: c', 'constructor: d'],
  ],
  ['no Host header', ['Origin: a']],
  ['no Host header, in HTTP/1.0', ['TE: chunked'], 'HTTP/1.0'],
  ['an Expect header', ['Host: a', 'Expect: 100-continue', 'Content-Length: 0']],
  ['an unknown Expect header', ['Host: a', 'Expect: the-unexpected']],
  ['a body in chunks', ['Host: a', 'Transfer-Encoding: chunked', '', '0']],
])(
  'FewHeaders and Node read the same headers from a request with %s',
  async (_, lines, version = 'HTTP/1.1') => {
    const request = [`POST /view ${version}`, ...lines, '', ''].join('\r\n');
    const few = await headersOf(request, FewHeaders);
    const all = await headersOf(request, IncomingMessage);
    expect(few.answer).toBe(all.answer);
    const asked = Object.entries(all.headers ?? {}).filter(([name]) => ASKED.includes(name));
    expect({ ...few.headers }).toStrictEqual(Object.fromEntries(asked));
  },
);
