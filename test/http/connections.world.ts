import { rmdirSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { KiB, MiB } from '../../src/base/format.ts';
import { LIMITS } from '../../src/base/limits.ts';
import { sleep } from '../../src/base/time.ts';
import { chunk, CHUNKED, parseAnswers, post } from '../support/raw.ts';
import { BUN, DENO, DENO_2_5, isPresent, NODE, type Runtime } from '../support/runtimes.ts';
import { startWatched } from '../support/status.ts';
import { linesOf, until as untilEver } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// The table of connections: the outcome of each state at each event, on each runtime, with the
// smallest, the default and the largest --max-view. Each row is one sentence, and a failed test
// lists the rows that don't hold. Tests of Node's own times, made short, are in node.unit.ts;
// hundreds of clients that stall are in attacker.world.ts.

interface State {
  /** The bytes that the client sends before the event. */
  readonly first: string;
  /** The bytes that the client sends after the event, which complete all its views. */
  readonly rest: string;
  /** The number of answers that the client then has, unless the event refuses its views. */
  readonly answers: number;
  /** True: before the event, the head of a request is complete, and its body isn't. */
  readonly isHalfBody?: boolean;
}

/** @param bytesMax the value of --max-view. */
function statesOf(bytesMax: number): Readonly<Record<string, State>> {
  // The stored line also contains an id and a time.
  const view = JSON.stringify({ ...MINIMAL_VIEW, pn: 'x'.repeat(bytesMax - 400) });
  const [half, end] = [view.slice(0, bytesMax / 2), view.slice(bytesMax / 2)];
  const whole = post(view);
  const inChunks = { first: post('', CHUNKED) + chunk(half), rest: `${chunk(end)}0\r\n\r\n` };
  return {
    'a silent connection': { first: '', rest: whole, answers: 1 },
    'an incomplete head': { first: whole.slice(0, 30), rest: whole.slice(30), answers: 1 },
    'an incomplete body with Content-Length': {
      first: whole.slice(0, -end.length),
      rest: end,
      answers: 1,
      isHalfBody: true,
    },
    'an incomplete body in chunks': { ...inChunks, answers: 1, isHalfBody: true },
    'a pipelined connection': { first: whole.repeat(3), rest: '', answers: 3 },
    'an idle connection': { first: whole, rest: whole, answers: 2 },
  };
}

/**
 * The rows that don't hold on a runtime, with the reasons. `viewlog help runtimes` names those that
 * matter to operators.
 */
const EXCEPTIONS: readonly (readonly [runtime: RegExp, row: RegExp])[] = [
  // Bun closes a connection if a request arrives before the previous one is answered.
  [/Bun/, /^(a pipelined|two bodies in turn get)/],
  // Deno and Bun themselves decide how long to wait for a head, and when to close a connection that
  // hasn't sent a head.
  [/Deno|Bun/, /^(a silent|an incomplete head|an idle).*(timeout|stays open)/],
  // Deno's and Bun's servers close connections during a stop without announcing it in an answer.
  [/Deno|Bun/, /gets an answer with Connection: close during a stop/],
  // The system passes a connection to Bun only once the client has sent something and drops it
  // without notice.
  [/Bun/, /^a silent connection is closed at a stop/],
  // Deno keeps a connection as long as a read of its body is pending and can't cancel that read.
  [/Deno/, /^an incomplete body.*is closed after its 408/],
  [/Deno/, /^a body refused before its first byte: the connection is closed/],
  // Deno reads no more requests and waits for the client without a limit.
  [/Deno/, /^unread answers: the connection is closed by the end of their timeout/],
];

type Client = Awaited<ReturnType<typeof open>>;

async function open(port: number, text: string) {
  const socket = connect({ port, host: '127.0.0.1' });
  let received = '';
  let isClosed = false;
  socket.setEncoding('latin1').on('data', (piece: string) => (received += piece));
  socket.on('error', () => {}).on('close', () => (isClosed = true));
  onTestFinished(() => void socket.destroy());
  const send = (more: string) => new Promise<unknown>((sent) => void socket.write(more, sent));
  await send(text);
  const statuses = () => parseAnswers(received).map(({ status }) => status);
  return {
    socket,
    send,
    statuses,
    answers: () => parseAnswers(received),
    isClosed: () => isClosed,
  };
}

const PREFLIGHT =
  'OPTIONS /view HTTP/1.1\r\nHost: x\r\nAccess-Control-Request-Method: POST\r\n\r\n';

/**
 * Opens a connection whose client reads no answer and sends requests until the server reads no
 * more. Bun closes the connection because the client pipelines, and Node does when the client's
 * requests need more than --max-queue.
 */
async function openUnread(port: number): Promise<Client> {
  const client = await open(port, '');
  client.socket.pause();
  let sentMs = Date.now();
  // A socket that neither reads nor writes doesn't notice that the server has closed it. So it goes
  // on if the server reads more after a while, as a busy one may.
  const sendOn = async (): Promise<void> => {
    while (!client.socket.destroyed) {
      await client.send(PREFLIGHT.repeat(400));
      sentMs = Date.now();
    }
  };
  void sendOn();
  await until(() => client.socket.destroyed || Date.now() - sentMs > 1_000);
  return client;
}

const WAIT_MS = 25_000;

/** Waits at most this long for a row's outcome and returns whether it was reached. */
async function until(
  isSo: () => boolean | Promise<boolean>,
  waitMs: number = WAIT_MS,
): Promise<boolean> {
  const endMs = Date.now() + waitMs;
  return untilEver(async () => ((await isSo()) ? 'yes' : Date.now() > endMs && 'no')).then(
    (answer) => answer === 'yes',
  );
}

const SIZES = [KiB, 16 * KiB, MiB];
/** TABLE_RUNTIMES='Deno|Bun' tests only these runtimes. */
const isChosen = ({ name }: Runtime) => RegExp(process.env['TABLE_RUNTIMES'] ?? '').test(name);
const RUNTIMES = [NODE, DENO, DENO_2_5, BUN].filter(isChosen).filter(isPresent);

/** One collector, with a connection in each state. */
class Scene {
  readonly failed: string[] = [];
  readonly runtime: Runtime;
  readonly bytesMax: number;
  readonly states: Readonly<Record<string, State>>;

  constructor(runtime: Runtime, bytesMax: number) {
    this.runtime = runtime;
    this.bytesMax = bytesMax;
    this.states = statesOf(bytesMax);
  }

  get queueBytes(): number {
    return Math.max(64 * KiB, 2 * this.bytesMax);
  }

  start(isTight = false) {
    const queue = isTight ? ['--max-queue', `${this.queueBytes}B`] : [];
    return startWatched({
      runtime: this.runtime,
      args: ['--max-view', `${this.bytesMax}B`, ...queue],
    });
  }

  /** Opens a connection in each of these states; by default in all. */
  async open(port: number, isWanted: (name: string, state: State) => boolean = () => true) {
    const wanted = Object.entries(this.states).filter(([name, state]) => isWanted(name, state));
    const clients = wanted.map(async ([name, state]) => {
      const client = await open(port, state.first);
      if (name.startsWith('an idle')) await this.answered(name, client, 1);
      return [name, state, client] as const;
    });
    return Promise.all(clients);
  }

  /** Waits for that many answers, or the end of the connection. */
  async answered(name: string, client: Client, count: number): Promise<readonly number[]> {
    await until(() => client.isClosed() || client.statuses().length >= count);
    return client.statuses();
  }

  /** Records the row if its sentence doesn't hold. */
  row(sentence: string, holds: boolean, seen: unknown = ''): void {
    const { name } = this.runtime;
    if (holds || EXCEPTIONS.some(([on, row]) => on.test(name) && row.test(sentence))) return;
    this.failed.push(`${name}, ${this.bytesMax} bytes: ${sentence} ${JSON.stringify(seen)}`);
  }
}

const all = (status: number, statuses: readonly number[], count: number): boolean =>
  statuses.length === count && statuses.every((one) => one === status);

/** Returns whether the collector ended correctly and logged only the lines of every start. */
const endsWell = ({ code, stderr }: { code: number | null; stderr: string }): boolean =>
  code === 0 && stderr.replace(/^warning: .*--min-free is off.*\n/m, '') === '';

type Watched = Awaited<ReturnType<Scene['start']>>;

/** Stops the collector and records as a row whether it ended well. */
async function endRow(scene: Scene, viewlog: Watched, connections: string): Promise<void> {
  const holds = endsWell(await viewlog.signal('SIGTERM'));
  scene.row(`${connections}: viewlog exits with code 0 and logs no error`, holds);
}

async function timeOut(scene: Scene): Promise<void> {
  const viewlog = await scene.start();
  const unread = await openUnread(viewlog.port);
  const { status } = await viewlog.post(MINIMAL_VIEW);
  scene.row('unread answers to preflights take no memory from views', status === 201, status);
  const text = { 'Content-Type': 'text/plain', 'Content-Length': '1000' };
  for (const sent of ['', '{']) {
    const refused = await open(viewlog.port, post(sent, text));
    const name = `a body refused ${sent ? 'after its first byte' : 'before its first byte'}`;
    const isClosed = await until(refused.isClosed, 5_000);
    scene.row(`${name} gets 415`, all(415, refused.statuses(), 1), refused.statuses());
    scene.row(`${name}: the connection is closed even if the sender stalls`, isClosed);
  }
  const clients = await scene.open(viewlog.port);
  for (const [name, state, client] of clients.filter(([, { isHalfBody }]) => isHalfBody)) {
    const statuses = await scene.answered(name, client, state.answers);
    scene.row(`${name} gets 408 after its timeout`, all(408, statuses, 1), statuses);
    const isDeno = /Deno/.test(scene.runtime.name);
    const closed = isDeno ? client.isClosed() : await until(client.isClosed);
    scene.row(`${name} is closed after its 408`, closed);
  }
  if (scene.runtime === NODE) {
    const [, , half] = clients.find(([name]) => name === 'an incomplete head')!;
    await until(half.isClosed);
    scene.row('an incomplete head gets 408 after its timeout', all(408, half.statuses(), 1));
  }
  for (const [name, { rest, answers, isHalfBody }, client] of clients) {
    if (isHalfBody || name === 'an incomplete head') continue;
    if (!client.isClosed()) await client.send(rest);
    const statuses = await scene.answered(name, client, answers);
    scene.row(
      `${name} stays open while others time out, and its views are accepted`,
      all(201, statuses, answers),
      statuses,
    );
  }
  const isEndless = /Deno/.test(scene.runtime.name);
  const isUnreadClosed = !isEndless && (await until(unread.isClosed, LIMITS.unreadTimeoutMs));
  scene.row('unread answers: the connection is closed by the end of their timeout', isUnreadClosed);
  unread.socket.resetAndDestroy();
  await endRow(scene, viewlog, 'all connections');
}

/** Stops a collector while no request is in flight. */
async function stopIdle(scene: Scene): Promise<void> {
  const viewlog = await scene.start();
  const clients = await scene.open(
    viewlog.port,
    (name, { isHalfBody }) => !isHalfBody && name !== 'a pipelined connection',
  );
  const startMs = performance.now();
  await endRow(scene, viewlog, 'idle connections');
  // viewlog waits 250 ms for idle connections, but 7 s for a request in flight, on Deno 3.5 s.
  const ms = performance.now() - startMs;
  scene.row("idle connections: the stop doesn't wait for them", ms < 3_400, ms);
  for (const [name, , client] of clients) {
    // Bun leaves some connections open, so the test doesn't wait until they end.
    const isClosed = scene.runtime === BUN ? client.isClosed() : await until(client.isClosed);
    scene.row(`${name} is closed at a stop`, isClosed);
  }
}

/**
 * Stops a collector while requests are in flight; the rest of each request arrives after the stop
 * has begun.
 */
async function stopBusy(scene: Scene): Promise<void> {
  const viewlog = await scene.start();
  const clients = await scene.open(
    viewlog.port,
    (name, { isHalfBody }) => isHalfBody || name === 'a pipelined connection',
  );
  await until(async () => (await viewlog.metrics())['viewlog_queue_bytes']! > 0);
  await until(() => viewlog.lines().length > 0);
  const ended = viewlog.signal('SIGTERM');
  await viewlog.says(/viewlog stopping/);
  let accepted = 0;
  for (const [name, { rest, answers }, client] of clients) {
    await client.send(rest);
    const statuses = await scene.answered(name, client, answers);
    // Deno may close the connection before it has read the last of several requests.
    const isBetween = name === 'a pipelined connection' && statuses.length > 0 && client.isClosed();
    const isAnswered = all(201, statuses, isBetween ? statuses.length : answers);
    scene.row(`${name} is answered during a stop`, isAnswered, statuses);
    accepted += statuses.filter((status) => status === 201).length;
    // Requests sent ahead may have been answered before the stop.
    const last = client.answers().at(-1)?.headers['connection'];
    const isLast = name === 'a pipelined connection' || last === 'close';
    scene.row(`${name} gets an answer with Connection: close during a stop`, isLast, last);
  }
  scene.row('busy connections: viewlog exits with code 0 and logs no error', endsWell(await ended));
  const lines = linesOf(viewlog.data, 'views').length;
  scene.row('busy connections: every 201 has a stored line', lines >= accepted, [lines, accepted]);
}

/** Stops a collector while a body arrives; the next body on the connection arrives after that. */
async function stopBetween(scene: Scene): Promise<void> {
  const viewlog = await scene.start();
  const { first, rest } = scene.states['an incomplete body with Content-Length']!;
  const client = await open(viewlog.port, first);
  await until(async () => (await viewlog.metrics())['viewlog_queue_bytes']! > 0);
  const ended = viewlog.signal('SIGTERM');
  await viewlog.says(/viewlog stopping/);
  await client.send(rest + first);
  await scene.answered('', client, 1);
  await sleep(2 * LIMITS.stopIdleMs);
  await client.send(rest);
  scene.row(
    'two bodies in turn: viewlog exits with code 0 and logs no error',
    endsWell(await ended),
  );
  const statuses = client.statuses();
  // viewlog may close the connection before it reads the second request.
  const isEach = all(201, statuses, Math.max(1, statuses.length));
  scene.row('two bodies in turn get only 201 during a stop', isEach, statuses);
}

/** Stops a collector while a client doesn't read its answers. */
async function stopUnread(scene: Scene): Promise<void> {
  const viewlog = await scene.start();
  const unread = await openUnread(viewlog.port);
  const startMs = performance.now();
  await endRow(scene, viewlog, 'unread answers');
  const ms = performance.now() - startMs;
  // viewlog stops waiting after 7 s; a busy machine can be seconds late.
  scene.row('unread answers: the stop ends without them', ms < 20_000, ms);
  scene.row('unread answers: the connection is closed at a stop', await until(unread.isClosed));
}

/** Sends views while other connections use up the memory for requests. */
async function overBudget(scene: Scene): Promise<void> {
  const viewlog = await scene.start(true);
  const unread = await openUnread(viewlog.port);
  const isAccepted = await until(async () => (await viewlog.post(MINIMAL_VIEW)).status === 201);
  scene.row('unread answers leave memory for a view', isAccepted);
  const { first } = scene.states['an incomplete body with Content-Length']!;
  const openedMs = performance.now();
  const clients = await scene.open(viewlog.port);
  const holders: Client[] = [];
  while (!holders.some((one) => one.statuses().includes(503))) {
    holders.push(await open(viewlog.port, first));
    await until(async () => (await viewlog.metrics())['viewlog_queue_bytes']! > 0);
    if (holders.length > 100) break;
  }
  scene.row('an incomplete body beyond the budget gets 503', holders.length <= 100);
  for (const [name, { rest, answers }, client] of clients) {
    if (!client.isClosed()) await client.send(rest);
    await scene.answered(name, client, answers);
    // On a busy machine, the rest of a request may have come too late.
    const isLate = performance.now() - openedMs > LIMITS.headTimeoutMs;
    const odd = client
      .answers()
      .filter(
        ({ status, headers }) =>
          status !== 201 &&
          !(status === 503 && headers['retry-after'] === '1') &&
          !(status === 408 && isLate),
      );
    scene.row(
      `when memory runs out, ${name} gets only 201 or 503 with Retry-After, or is closed`,
      odd.length === 0 && (client.isClosed() || client.answers().length > 0),
      client.statuses(),
    );
  }
  for (const { socket } of [unread, ...holders, ...clients.map(([, , client]) => client)])
    socket.resetAndDestroy();
  await expectFree(scene, viewlog);
  await endRow(scene, viewlog, 'all connections');
}

/** Expects that the memory for requests is free, and that viewlog accepts views. */
async function expectFree(scene: Scene, viewlog: Watched): Promise<void> {
  // The timeout of a body would free the memory too, but later.
  const isFree = async () => (await viewlog.metrics())['viewlog_queue_bytes'] === 0;
  scene.row(
    'the memory for requests is free once the clients are gone',
    await until(isFree, 8_000),
  );
  const { status } = await viewlog.post(MINIMAL_VIEW);
  scene.row('a view is accepted as before', status === 201, status);
}

async function hangUp(scene: Scene): Promise<void> {
  const viewlog = await scene.start();
  const begun = post('{', { 'Content-Length': String(scene.bytesMax) });
  const starters = await Promise.all(Array.from({ length: 40 }, () => open(viewlog.port, begun)));
  await until(async () => (await viewlog.metrics())['viewlog_queue_bytes']! >= 40 * 8 * KiB);
  await viewlog.post(MINIMAL_VIEW);
  const isAnyRefused = starters.some(({ statuses }) => statuses().length > 0);
  scene.row('40 bodies that have just begun fit in the budget', !isAnyRefused);
  const clients = await scene.open(viewlog.port);
  const unread = await openUnread(viewlog.port);
  await until(async () => (await viewlog.metrics())['viewlog_queue_bytes']! > 0);
  for (const { socket } of [unread, ...starters, ...clients.map(([, , client]) => client)])
    socket.resetAndDestroy();
  await expectFree(scene, viewlog);
  await endRow(scene, viewlog, 'all connections');
}

/** Sends views while the day's file can't be opened. */
async function writeFailure(scene: Scene): Promise<void> {
  const viewlog = await scene.start();
  const days = [0, 1].map((n) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10));
  const paths = days.map((day) => join(viewlog.data, `views-${day}.ndjson`));
  const clients = await scene.open(viewlog.port, (name) => !/^(a pipelined|an idle)/.test(name));
  for (const path of paths) mkdirSync(path);
  for (const [name, { rest, answers }, client] of clients) {
    await client.send(rest);
    const statuses = await scene.answered(name, client, answers);
    scene.row(
      `${name} gets 503 while the file can't be written`,
      all(503, statuses, answers),
      statuses,
    );
    scene.row(`${name} stays open after its 503`, !client.isClosed());
  }
  await viewlog.says(/^error: .*views-.*ndjson" for writing.*; move it away/m);
  for (const path of paths) rmdirSync(path);
  await until(async () => (await viewlog.post(MINIMAL_VIEW)).status === 201);
  const { code } = await viewlog.signal('SIGTERM');
  scene.row(
    'all connections: viewlog exits with code 0 if it stops after a past failure',
    code === 0,
    code,
  );
}

it.each([
  ['connections time out', timeOut],
  ['viewlog stops while no request is in flight', stopIdle],
  ['viewlog stops while requests are in flight', stopBusy],
  ['viewlog stops between two bodies on a connection', stopBetween],
  ['viewlog stops while answers are unread', stopUnread],
  ['requests use up --max-queue', overBudget],
  ["the view file can't be written", writeFailure],
  ['clients hang up', hangUp],
])('every promise about connections holds when %s', async (_, happen) => {
  const scenes = RUNTIMES.flatMap((runtime) => SIZES.map((bytes) => new Scene(runtime, bytes)));
  await Promise.all(scenes.map((scene) => happen(scene)));
  expect(scenes.flatMap(({ failed }) => failed)).toStrictEqual([]);
});
