import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { dataDirectory, run, start, startViewlog, type Viewlog } from '../support/viewlog.ts';

// Collectors that share a data directory: the behaviour that depends on the runtime.

test.each([NODE, DENO, BUN].filter(isPresent))(
  'one collector holds a data directory until it is killed, on %s',
  async (runtime) => {
    const data = dataDirectory();
    const expectRefused = async (why: string): Promise<void> => {
      const { code, stderr } = await run(['serve', '--port=0', '--status=off'], { runtime, data });
      expect([code, stderr]).toEqual([73, expect.stringContaining(why)]);
    };
    const expectHeldBy = ({ child }: Viewlog) => expectRefused(`process ${child.pid}, viewlog `);
    const first = await startViewlog({ runtime, data });
    await expectHeldBy(first);
    first.child.kill('SIGSTOP');
    await expectRefused("a process that doesn't answer");
    await first.signal('SIGKILL');
    const second = await startViewlog({ runtime, data });
    await second.post(MINIMAL_VIEW);
    fs.rmSync(join(data, 'viewlog.lock'));
    await expectHeldBy(second);
    fs.renameSync(data, `${data}.old`);
    fs.mkdirSync(data);
    const message = expect.stringContaining(
      `error: The data directory "${data}" is now a different one`,
    );
    expect(await second.ended).toMatchObject({ code: 74, stderr: message });
    fs.rmSync(`${data}.old`, { recursive: true });
  },
);

test('on Deno, viewlog names the permission that it lacks for the data directory', async () => {
  const allowed = dataDirectory();
  const other = ['--data', join(tempDir(), 'data'), '--projects', join(allowed, 'projects.json')];
  const { ended } = start(['serve', '--port=0', '--status=off', ...other], allowed, {
    runtime: DENO,
  });
  const message = /^error: Can't create directory ".*data": Requires .*--allow-/m;
  expect(await ended).toMatchObject({ code: 73, stderr: expect.stringMatching(message) });
});
