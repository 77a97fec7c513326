import { execSync } from 'node:child_process';
import * as fs from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '../support/temp-dir.ts';
import { dataDirectory, run, start } from '../support/viewlog.ts';

const SERVE = ['serve', '--port=0', '--status=off'];

test.each([
  ['0550', 0o550],
  ['0350', 0o350],
  ['0400', 0o400],
])(
  'if the data directory has mode %s, viewlog prints the command that lets it start',
  async (_, mode) => {
    const data = dataDirectory();
    if (process.getuid?.() === 0) {
      for (const path of [data, `${data}/projects.json`]) fs.chownSync(path, 4711, 4712);
    }
    await startOnce(data);
    fs.chmodSync(data, mode);
    onTestFinished(() => fs.chmodSync(data, 0o750));
    const { code, stderr } = await run(SERVE, { data });
    const [, command = ''] = /run(?: as root)?: (.*)$/m.exec(stderr) ?? [];
    expect([code, command]).toEqual([
      mode === 0o400 ? 78 : 73,
      expect.stringMatching(new RegExp(`chmod u\\+rwx ${data}$`)),
    ]);
    // Without the right to enter the directory, viewlog can't read the projects file in it.
    const what = mode === 0o400 ? 'read projects file "' : 'use directory "';
    expect(stderr).toContain(`error: Can't ${what}${data}`);
    execSync(command, { cwd: '/' });
    await startOnce(data);
  },
);

/** Starts viewlog and stops it. */
async function startOnce(data: string): Promise<void> {
  const viewlog = start([...SERVE, '--data', data], data);
  await viewlog.says(/viewlog listening on/);
  expect(await viewlog.signal('SIGTERM')).toMatchObject({ code: 0 });
}

test.skipIf(process.platform !== 'linux')(
  "viewlog exits if the data directory can't be created, and creates missing parents",
  async () => {
    const args = [...SERVE, '--projects', `${dataDirectory()}/projects.json`];
    for (const data of ['/proc/x', '/proc/x/y']) {
      const { code, stderr } = await start([...args, '--data', data], tempDir()).ended;
      expect([code, stderr]).toEqual([
        73,
        expect.stringMatching(/^error: Can't create directory "\/proc\/x/),
      ]);
    }
    const data = `${tempDir()}/a/b`;
    const viewlog = start([...args, '--data', data], tempDir());
    await viewlog.says(/viewlog listening on/);
    expect(fs.statSync(data).mode & 0o777).toBe(0o750);
  },
);
