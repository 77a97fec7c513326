import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { storedLines } from '../support/stored-lines.ts';
import { tempDir } from '../support/temp-dir.ts';
import { NODE } from '../support/runtimes.ts';
import { startProgram } from '../support/viewlog.ts';

const MIB = 1024 * 1024;
const SAY_MEMORY = 'process.on("exit",()=>console.error(process.resourceUsage().maxRSS))';

/** Returns the most memory, in bytes, that `verify` took for 200,000 lines of this length. */
async function memoryOf(lineLength: number): Promise<number> {
  const data = tempDir();
  const file = join(data, 'views-2026-03-01.ndjson.gz');
  const fd = openSync(file, 'w');
  for (let n = 0; n < 200_000; n += 1000) {
    const lines = storedLines('2026-03-01', 1000, { ref: 'x'.repeat(lineLength - 500) }, n);
    writeSync(fd, gzipSync(`${lines.join('\n')}\n`, { level: 1 }));
  }
  closeSync(fd);
  const [program, ...args] = NODE.command(data);
  const preload = ['--import', `data:text/javascript,${SAY_MEMORY}`];
  const verify = startProgram([program, ...preload, ...args, 'verify', file]);
  const { stdout, stderr } = await verify.ended;
  expect(stdout).toContain(': 200,000 lines, ');
  return Number(stderr) * 1024;
}

it("the memory that verify needs doesn't grow with the length of lines", async () => {
  const [short, long] = [await memoryOf(500), await memoryOf(3072)];
  expect(long - short).toBeLessThan(64 * MIB);
});
