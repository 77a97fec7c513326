// A process that stores views, on any runtime. It reports in lines of JSON.
import { acquireLock } from '../../src/disk/lock.ts';
import { RefusedFiles } from '../../src/store/refused/refused-files.ts';
import { LocalViewStore } from '../../src/store/files/view-store.ts';

const [mode, dir] = process.argv.slice(2) as [string, string];
const say = (value: object): void => console.log(JSON.stringify(value));
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const said: string[] = [];
const note = (message: string): void => void said.push(message);
const log = { info: note, warn: note, error: note };
const now = Date.now;
const lock = await acquireLock(dir);
const store = new LocalViewStore({
  dir,
  durability: 'disk',
  minFreeBytes: 1,
  now,
  log,
  onFatal: (fatal) => say({ fatal: fatal.message }),
});
await store.start();
const refused = new RefusedFiles({
  dir,
  maxBytesPerDay: 1024 * 1024,
  minFreeBytes: 0,
  freeBytes: () => store.state().freeBytes,
  isListed: () => true,
  now,
  log,
});

const fields = Buffer.from(JSON.stringify({ p: '1', pn: 'ü'.repeat(500) }));

/** Runs 64 clients without a pause until it is killed, and reports each acknowledgement at once. */
async function load(): Promise<void> {
  const client = async (): Promise<void> => {
    for (;;) {
      const appended = await store.append(fields);
      say(appended);
    }
  };
  await Promise.all(Array.from({ length: 64 }, client));
}

/** Writes until the disk is full, then until it has space again. */
async function fill(): Promise<void> {
  let accepted = 0;
  let reason: string | undefined;
  while (reason === undefined) {
    const all = await Promise.all(Array.from({ length: 50 }, () => store.append(fields)));
    for (const one of all) {
      if ('id' in one) accepted += 1;
      else reason = one.unavailable;
    }
  }
  say({ accepted, reason });
  while (store.state().unavailable !== undefined) await sleep(10);
  const appended = await store.append(fields);
  refused.keep({ code: 'invalid-view', project: '1', text: '{"p":"1"}' });
  await refused.close(5000);
  await store.close(5000);
  await lock.release();
  say({ appended, kept: refused.state().keptLines, said });
}

await (mode === 'load' ? load() : fill());
