import type { Socket } from 'node:net';
import { sleep } from '../../src/base/time.ts';
import { chunk, CHUNKED, post } from './raw.ts';
import { MINIMAL_VIEW } from './views.ts';

// Malicious clients. Each repeats its own kind of request until it is stopped.

const VIEW = JSON.stringify(MINIMAL_VIEW);
const TEXT = { 'Content-Type': 'text/plain' };
const bare = post(VIEW).replace('Host: localhost\r\n', 'Host: x\r\n');
const faults = JSON.stringify(
  Object.fromEntries(Array.from({ length: 1_200 }, (_, i) => [`f${i}`, i])),
);

const AWAY_MS = 10_000;
const MEGABYTE = 'x'.repeat(1024 * 1024 - 5);

/** Sends as one client; `write` resolves when more can be sent, or the connection has ended. */
export type Way = (client: Client) => Promise<void>;

interface Client {
  readonly socket: Socket;
  readonly isOver: () => boolean;
  readonly write: (text: string) => Promise<void>;
  readonly rest: (ms: number) => Promise<void>;
}

/** Sends the same text again and again and never reads. */
const flood =
  (text: string): Way =>
  async ({ socket, isOver, write }) => {
    socket.pause();
    while (!isOver()) await write(text);
  };

/** Sends the text and leaves the connection open; a client that is refused stays away. */
const stall =
  (text: string): Way =>
  async ({ isOver, write, rest }) => {
    await write(text);
    while (!isOver()) await rest(50);
    await sleep(AWAY_MS);
  };

export const WAYS: Readonly<Record<string, Way>> = {
  "pipelines and doesn't read": flood(bare.repeat(200)),
  "pipelines refusals and doesn't read": flood(post('{}').repeat(300)),
  "pipelines preflights and doesn't read": flood(
    'OPTIONS /view HTTP/1.1\r\nHost: x\r\nAccess-Control-Request-Method: POST\r\n\r\n'.repeat(400),
  ),
  async 'pipelines and reads slowly'({ socket, isOver, write, rest }) {
    socket.pause();
    const reading = setInterval(() => socket.read(512), 20);
    while (!isOver()) {
      await write(bare.repeat(50));
      await rest(5);
    }
    clearInterval(reading);
  },
  async 'pipelines and ends its side'({ socket, isOver, write, rest }) {
    socket.resume();
    await write(bare.repeat(500));
    socket.end();
    while (!isOver()) await rest(50);
  },
  async 'pipelines and resets'({ socket, write }) {
    await write(bare.repeat(300));
    socket.resetAndDestroy();
  },
  async 'sends a body by the byte, in chunks'({ isOver, write }) {
    await write(post('', CHUNKED));
    while (!isOver()) await write(chunk('{').repeat(500));
  },
  async 'sends a body by the byte, of a declared length'({ socket, isOver, write, rest }) {
    socket.setNoDelay(true);
    await write(post('', { 'Content-Length': '16000' }));
    for (let sent = 0; sent < 16_000 && !isOver(); sent++) {
      await write('{');
      if (sent % 20 === 0) await rest(1);
    }
  },
  'declares a body and sends none': stall(post('', { 'Content-Length': '16000' })),
  'sends an incomplete body and stalls': stall(
    post('{'.repeat(8_000), { 'Content-Length': '16000' }),
  ),
  'sends a megabyte without its end and stalls': stall(
    post(MEGABYTE, { 'Content-Length': String(MEGABYTE.length + 5) }),
  ),
  'sends a megabyte in chunks without its end and stalls': stall(
    `${post('', CHUNKED)}${chunk(MEGABYTE)}`,
  ),
  'sends the first byte of a body and stalls': stall(post('{', { 'Content-Length': '20000' })),
  'is refused and stalls': stall(post('{', { ...TEXT, 'Content-Length': '1000' })),
  'sends an incomplete head and stalls': stall(
    `POST /view HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(8_000)}`,
  ),
  async 'sends bodies full of faults'({ socket, isOver, write, rest }) {
    socket.resume();
    while (!isOver()) {
      await write(post(faults));
      await rest(1);
    }
  },
  async 'sends bodies that are too large'({ isOver, write }) {
    await write(post('', { 'Content-Length': '1000000000' }));
    while (!isOver()) await write('x'.repeat(16_000));
  },
};
