// An open loop: views are due at even intervals, whatever the server does. One that finds no
// connection free waits for one, and its latency counts from when it was due, so that a server
// that stalls is not spared the views that would have come meanwhile.
//
// What is measured has this process's own share in it: it wakes up to read an answer, and shares
// the cores with the server. The bare server's figures through it are the floor; `lateUs` is how
// long after its time a view was written.
import { once } from 'node:events';
import { connect } from 'node:net';
import { CONNECTIONS } from './load.mjs';
import { requestTo } from './request.mjs';

/** A timer may be so late; what is due sooner is awaited awake. */
const TIMER_LATE_MS = 2;
/** For the last answers; what has none then counts as having waited until then. */
const GRACE_MS = 3_000;

/**
 * @param server a subject that runs.
 * @returns of each view its latency, and how late it was written, in microseconds; and how many
 *   had no answer in the end, from a server that is slower than its load.
 */
export async function pacedLoad({ subject, port }, perSecond, seconds) {
  const { bytes } = requestTo(subject);
  // Each is used once a second at least, or a server closes it as idle.
  const sockets = await Promise.all(
    Array.from({ length: Math.min(CONNECTIONS, perSecond) }, () => open(port)),
  );
  try {
    return await new Promise((resolve, reject) => {
      run(sockets, bytes, perSecond, perSecond * seconds, resolve, reject);
    });
  } catch (error) {
    throw new Error(`${subject.name}, ${perSecond} views a second: ${error.message}`, {
      cause: error,
    });
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

async function open(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket.setEncoding('latin1');
}

function run(sockets, bytes, perSecond, views, resolve, reject) {
  const latenciesUs = [];
  const lateUs = [];
  const free = [...sockets];
  const startMs = performance.now() + 10;
  const dueMs = (view) => startMs + (view * 1000) / perSecond;
  let sent = 0;

  const send = () => {
    const now = performance.now();
    while (free.length > 0 && sent < views && dueMs(sent) <= now) {
      const socket = free.shift();
      socket.dueMs = dueMs(sent++);
      socket.answer = '';
      lateUs.push((now - socket.dueMs) * 1000);
      socket.write(bytes);
    }
  };
  const answered = (socket) => {
    if (!socket.answer.startsWith('HTTP/1.1 20')) {
      reject(new Error(`answered ${socket.answer.slice(0, 200)}`));
    }
    latenciesUs.push((performance.now() - socket.dueMs) * 1000);
    free.push(socket);
    if (latenciesUs.length === views) resolve({ latenciesUs, lateUs, unanswered: 0 });
  };
  for (const socket of sockets) {
    socket.on('data', (piece) => {
      socket.answer += piece;
      if (isWhole(socket.answer)) answered(socket);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('a connection was closed')));
  }
  const giveUp = () => {
    const now = performance.now();
    const underWay = sockets.filter((socket) => !free.includes(socket)).map(({ dueMs }) => dueMs);
    const unsent = Array.from({ length: views - sent }, (_, i) => dueMs(sent + i));
    const waited = [...underWay, ...unsent].map((due) => (now - due) * 1000);
    resolve({
      latenciesUs: [...latenciesUs, ...waited],
      lateUs,
      unanswered: waited.length,
    });
  };
  const wait = () => {
    send();
    if (latenciesUs.length === views) return;
    const restMs = (sent < views ? dueMs(sent) : Infinity) - performance.now();
    if (performance.now() > dueMs(views) + GRACE_MS) giveUp();
    else if (restMs > TIMER_LATE_MS) setTimeout(wait, Math.min(restMs - TIMER_LATE_MS, 100));
    else setImmediate(wait);
  };
  wait();
}

/** Whether an answer, read as Latin-1 and so as long as its bytes, has come to its end. */
function isWhole(answer) {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const head = answer.slice(0, headEnd);
  if (/^transfer-encoding: chunked/im.test(head)) return answer.endsWith('0\r\n\r\n');
  const [, length = 0] = /^content-length: (\d+)/im.exec(head) ?? [];
  return answer.length >= headEnd + 4 + Number(length);
}
