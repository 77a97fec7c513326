import { connect } from 'node:net';
import { sleep } from '../../src/base/time.ts';
import { until } from './viewlog.ts';

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface RawOptions {
  /**
   * The parts to send in order until the server closes the connection; a number is a wait in
   * milliseconds.
   */
  readonly pieces: readonly (string | Buffer | number)[];
  /** True: each piece is a request, which is sent once the request before it is answered. */
  readonly inTurn?: boolean;
  /** Breaks the connection this long after it was opened. */
  readonly abortMs?: number;
}

/**
 * Sends raw HTTP. Ends when the server closes the connection, or once an answer has come and
 * nothing follows for `quietMs`.
 */
export async function speak(
  port: number,
  { pieces, inTurn = false, abortMs }: RawOptions,
  quietMs = 700,
) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let received = '';
  let sentBytes = 0;
  let sentPieces = 0;
  let quiet: NodeJS.Timeout | undefined;
  const over = new Promise<boolean>((end) => {
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
      clearTimeout(quiet);
      if (!inTurn || sentPieces === pieces.length) quiet = setTimeout(end, quietMs, false);
    });
    for (const event of ['end', 'error', 'close']) socket.on(event, () => end(true));
    if (abortMs !== undefined) socket.on('connect', () => setTimeout(end, abortMs, true));
  });
  const send = async (): Promise<void> => {
    for (const piece of pieces) {
      if (inTurn)
        await until(() => parseAnswers(received).length === sentPieces || socket.destroyed);
      if (socket.destroyed) return;
      sentPieces += 1;
      if (typeof piece === 'number') await sleep(piece);
      else {
        sentBytes += piece.length;
        await new Promise((sent) => void socket.write(piece, sent));
      }
    }
  };
  void send();
  /** True if the server closed the connection; false if the connection stayed open. */
  const closed = await over;
  clearTimeout(quiet);
  socket.destroy();
  return { answers: parseAnswers(received), closed, sentBytes, received };
}

export function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return answers;
    const head = rest.slice(0, end);
    const content = rest.slice(end + 4);
    const status = Number(head.split(' ')[1]);
    const lines = head.matchAll(/^(.+?): *(.*)$/gm);
    const headers = Object.fromEntries(
      Array.from(lines, ([, name = '', value = '']) => [name.toLowerCase(), value]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const [body, after] =
      headers['transfer-encoding'] === 'chunked'
        ? chunked(content)
        : [content.slice(0, length), content.slice(length)];
    if (status !== 100) answers.push({ status, headers, body });
    rest = after;
  }
}

function chunked(text: string): [string, string] {
  const end = text.indexOf('\r\n');
  const size = Number.parseInt(text, 16);
  if (end < 0 || size === 0) return ['', text.slice(end + 4)];
  const [body, after] = chunked(text.slice(end + 2 + size + 2));
  return [text.slice(end + 2, end + 2 + size) + body, after];
}

/** The headers of a body in chunks. */
export const CHUNKED = { 'Content-Length': '', 'Transfer-Encoding': 'chunked' };

/** Returns the text of a `POST /view`; `headers` add to or replace the usual ones. */
export function post(body: string, headers: Record<string, string> = {}): string {
  const all: Record<string, string> = {
    Host: 'localhost',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === '' ? [] : [`${name}: ${value}`],
  );
  return `POST /view HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

export const chunk = (text: string): string =>
  `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
