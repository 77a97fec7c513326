// Plants one fault at a time in the storage code, and says which seed finds it first:
//
//   node test/simulation/planted.mjs [text in the fault's name]
//
// A fault replaces a piece of source text while the simulation is bundled; no file is changed.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const SEEDS = Number(process.env.SIM_SEEDS ?? 300);
const VIEW_STORE = 'src/store/files/view-store.ts';
const REFUSED = 'src/store/refused/refused-files.ts';
const BATCH = 'src/store/files/batch.ts';
const FILE = 'src/disk/daily-file.ts';
const WRITER = 'src/disk/day-writer.ts';
const RETENTION = 'src/disk/retention.ts';

/** Name, file, text, and what takes its place. */
const FAULTS = [
  [
    'answer before the write returns',
    VIEW_STORE,
    'const bytes = batch.bytes();',
    "const bytes = batch.bytes(); batch.answer(batch.lines, '');",
  ],
  ['skip the sync', FILE, 'sync: () => (dsync ?', 'sync: () => (true ?'],
  ['open without O_DSYNC', FILE, /'ad(x?)\+'/g, "'a$1+'"],
  ['skip the directory sync', FILE, 'await syncDirectory(files, dir);', ''],
  [
    'skip the sync of what was there',
    FILE,
    'if (size > 0) await synced',
    'if (size < 0) await synced',
  ],
  [
    'drop the owed rest after a short write',
    FILE,
    /owed = Uint8Array.from\(.*\);/,
    'owed = NOTHING;',
  ],
  ['leave a torn tail unsealed', FILE, 'const torn = size > 0 &&', 'const torn = size < 0 &&'],
  ['let a batch span midnight', BATCH, 'return day === this.day &&', 'return'],
  [
    'acknowledge what a full disk cut off',
    VIEW_STORE,
    'const lines = blocked === undefined ?',
    'const lines = blocked !== null ?',
  ],
  ['go on after a failed sync', 'src/disk/sync.ts', 'throw cannotSync(path, error);', ''],
  ['go on after a failed write that syncs', FILE, 'throw cannotSync(path, error);', 'return;'],
  ['remove one file too many', RETENTION, 'day < oldestKept', 'day <= oldestKept'],
  ['remove the newest file', RETENTION, 'days.slice(0, -1)', 'days'],
  ['go on writing to a file that was moved', FILE, "return 'moved'", "return 'here'"],
  // Beyond the list that every round tries.
  [
    'count a line twice',
    VIEW_STORE,
    'this.#counts.lines += lines;',
    'this.#counts.lines += 2 * lines;',
  ],
  [
    'end half a line twice',
    FILE,
    'const SEAL = Uint8Array.of(NEWLINE)',
    'const SEAL = Uint8Array.of(NEWLINE, NEWLINE)',
  ],
  ['acknowledge one line too many', BATCH, 'i < lines ?', 'i <= lines ?'],
  [
    'give an id twice',
    'src/store/stamp.ts',
    'HEX3[counter] + nextTail()',
    "'000-8000-000000000000'",
  ],
  ['let ids go back with the clock', 'src/store/stamp.ts', 'if (ms > idMs)', 'if (ms !== idMs)'],
  ['forget the hour between removals', RETENTION, ', HOUR_MS);', ', 600_000);'],
  [
    'remove all old files at once',
    RETENTION,
    'return (await this.#remove(kind, path, keepDays))',
    'if (await this.#remove(kind, path, keepDays)) continue; else return (false)',
  ],
  [
    'remove the youngest first',
    RETENTION,
    'for (const day of days)',
    'for (const day of days.toReversed())',
  ],
  ['remove what it has written', RETENTION, 'hasWritten(kind, day) ||', ''],
  [
    'exceed the cap by a line',
    REFUSED,
    'this.#usedBytes + line.length > maxBytesPerDay',
    'this.#usedBytes > maxBytesPerDay',
  ],
  ['reserve nothing for listed projects', REFUSED, 'maxBytesPerDay / 2', 'maxBytesPerDay'],
  ['forget what the day has after a restart', REFUSED, '(found) => found.size', '() => 0'],
  [
    'keep refused views on a disk that is nearly full',
    REFUSED,
    '< 2 * minFreeBytes',
    '< minFreeBytes',
  ],
  ['close without a sync', WRITER, "if (this.#options.durability === 'os') await file.sync();", ''],
  ['take EINTR for an error', FILE, "if (code === 'EINTR') continue;", ''],
  ['end on EDQUOT', 'src/disk/trouble.ts', "'EDQUOT', ", ''],
  [
    'write again after a short write',
    FILE,
    'bytes, written, bytes.length - written',
    'bytes, 0, bytes.length',
  ],
  ['try a full disk only once', VIEW_STORE, 'if (blocked !== undefined) this.#retryLater();', ''],
  [
    'ignore --min-free',
    VIEW_STORE,
    "this.#space.isLow() ? 'too little free disk space' : undefined",
    'undefined',
  ],
  ['wait for a disk that hangs', VIEW_STORE, 'this.#isStuck = true;', 'return;'],
  ['stay stuck', VIEW_STORE, 'this.#isStuck = false;', ''],
  [
    'take the time at the write',
    VIEW_STORE,
    'const stamp = this.#stamp();',
    'const stamp = { ...this.#stamp(), ts: new Date(this.#options.now() + 1).toISOString() };',
  ],
  ['leave old files for ever', RETENTION, 'if (!removes)', 'if (removes)'],
  ['leave a file open', FILE, 'close: () => files.close(fd)', 'close: () => Promise.resolve()'],
  [
    'write into a FIFO',
    FILE,
    /if \(!there.isFile\(\)\).*|if \(\(await statIfThere\(files, path\)\)\?\.isFile\(\) === false\)/g,
    ';',
  ],
  ['say nothing of a fatal error', VIEW_STORE, 'this.#options.onFatal(', 'void ('],
  ['leave views without an answer at a stop', VIEW_STORE, 'this.#refuseAll(SHUTTING_DOWN);', ''],
  [
    'refuse what is stored when the disk fills up',
    VIEW_STORE,
    'batch.answer(lines,',
    'batch.answer(blocked === undefined ? lines : 0,',
  ],
];

/** Bundles the simulation with the fault in it. */
async function simulationWith([name, file, text, replacement]) {
  let isPlanted = false;
  const plant = {
    name: 'plant',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        if (!path.endsWith(`/${file}`)) return undefined;
        const source = readFileSync(path, 'utf8');
        const contents = source.replace(text, replacement);
        isPlanted = contents !== source;
        return { contents, loader: 'ts' };
      }),
  };
  const dir = mkdtempSync(join(tmpdir(), 'planted-'));
  const outfile = join(dir, 'simulation.mjs');
  try {
    await build({
      entryPoints: ['test/simulation/world.ts'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
      outfile,
      plugins: [plant],
    });
    if (!isPlanted) throw new Error(`${name}: no such text in ${file}`);
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

let missed = 0;
for (const fault of FAULTS.filter(([name]) => name.includes(process.argv[2] ?? ''))) {
  try {
    const { simulate } = await simulationWith(fault);
    let found = 'not found';
    for (let seed = 1; seed <= SEEDS && found === 'not found'; seed++) {
      const { violation } = await simulate(seed);
      if (violation !== undefined) found = `seed ${seed}: ${violation.split('\n')[0].slice(0, 90)}`;
    }
    if (found === 'not found') missed += 1;
    console.log(`${fault[0].padEnd(50)} ${found}`);
  } catch (error) {
    missed += 1;
    console.log(String(error));
  }
}
process.exitCode = missed === 0 ? 0 : 1;
