import { once } from 'node:events';
import { createServer, IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { FewHeaders } from '../../src/http/few-headers.ts';

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
] as const;

/** Returns the headers that a server makes of a request's header lines, and its answer. */
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
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.end(request);
  const answer = await text(socket);
  server.close();
  return { headers, answer };
}

it.each([
  [
    'all of them',
    'HTTP/1.1',
    ASKED.map((name) => `${name}: 1`).filter((line) => !/^(te|tr|ex)/.test(line)),
  ],
  ['odd letter cases', 'HTTP/1.1', ['HOST: a', 'oRiGiN: b', 'Content-TYPE: c', 'Te: trailers']],
  [
    'each twice',
    'HTTP/1.1',
    [
      'Host: a',
      'Host: b',
      'Origin: c',
      'origin: d',
      'Content-Type: e',
      'Content-Type: f',
      'Content-Encoding: g',
      'Content-Encoding: h',
      'TE: i',
      'TE: j',
      'Access-Control-Request-Headers: k',
      'Access-Control-Request-Headers: l',
      'Access-Control-Request-Method: m',
      'Access-Control-Request-Method: n',
    ],
  ],
  ['an empty one', 'HTTP/1.1', ['Host:', 'Origin:', 'Origin: a']],
  [
    'names that objects have',
    'HTTP/1.1',
    ['Host: a', 'hasOwnProperty: b', '__proto__: c', 'constructor: d'],
  ],
  ['no host', 'HTTP/1.1', ['Origin: a']],
  ['no host, of old', 'HTTP/1.0', ['TE: chunked']],
  ['something expected', 'HTTP/1.1', ['Host: a', 'Expect: 100-continue', 'Content-Length: 0']],
  ['something odd expected', 'HTTP/1.1', ['Host: a', 'Expect: the-unexpected']],
  ['a body in chunks', 'HTTP/1.1', ['Host: a', 'Transfer-Encoding: chunked', '', '0']],
])('are what Node makes of a request with %s', async (_, version, lines) => {
  const request = [`POST /view ${version}`, ...lines, '', ''].join('\r\n');
  const few = await headersOf(request, FewHeaders);
  const all = await headersOf(request, IncomingMessage);
  expect(few.answer).toBe(all.answer);
  for (const name of ASKED)
    expect([name, few.headers?.[name]]).toStrictEqual([name, all.headers?.[name]]);
  // And none that nobody asks for.
  expect(Object.keys(few.headers ?? {}).filter((name) => !ASKED.includes(name as 'te'))).toEqual(
    [],
  );
});
