import { execSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { userName } from '../../src/installation/accounts.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { run, startViewlog, until } from '../support/viewlog.ts';

// Tests root, who runs viewlog by hand in the directory of a service that has its own user.

const SERVICE = { uid: 4711, gid: 4712 };
const ROOT = { uid: 0, gid: 0 };
const isRoot = process.getuid?.() === 0;

/** The service's data directory. */
function serviceDirectory(): string {
  const data = tempDir();
  fs.chownSync(data, SERVICE.uid, SERVICE.gid);
  return data;
}

/** Returns the files in the data directory that aren't the service's. */
const notOwned = (data: string): string[] =>
  fs.readdirSync(data).filter((name) => fs.lstatSync(join(data, name)).uid !== SERVICE.uid);

describe.skipIf(!isRoot)('root in the directory of a service', () => {
  let umask = 0;
  beforeAll(() => void (umask = process.umask(0o022)));
  afterAll(() => void process.umask(umask));

  test.each([NODE, DENO, BUN].filter(isPresent))(
    'activates projects, but serves, archives and replays nothing, on %s',
    async (runtime) => {
      const data = serviceDirectory();
      const env = { HOME: data };
      const asRoot = { runtime, data, user: ROOT };
      const refused = async (...args: string[]): Promise<string> => {
        const { code, stderr } = await run(args, asRoot);
        expect([code, stderr, notOwned(data)]).toEqual([73, expect.any(String), []]);
        return stderr;
      };
      expect(await run(['activate', MINIMAL_VIEW.p], asRoot)).toMatchObject({ code: 0 });
      expect(notOwned(data)).toEqual([]);
      expect(await refused('serve', '--port=0', '--status=off')).toContain(
        `error: "${data}" belongs to user #4711, so viewlog refuses to run there as root; ` +
          'run the command as #4711: sudo setpriv --reuid=4711 --regid=4712 --clear-groups -- /',
      );
      const archive = await refused('archive', '--from', 'nats://user:secret@127.0.0.1:1');
      expect(archive).toContain('refuses to run there as root; run it as that user');
      expect(archive).not.toContain('secret');
      const services = await startViewlog({ runtime, data, env });
      expect((await services.post({ ...MINIMAL_VIEW, p: '99' })).status).toBe(403);
      await until(() => services.refusedLines().length === 1);
      const name = fs.readdirSync(data).find((file) => file.startsWith('refused-'))!;
      const replay = ['replay', join(data, name), '--to', services.url];
      const [, printed = ''] = /: (sudo .*)$/m.exec(await refused(...replay)) ?? [];
      expect(await run(['activate', '99'], asRoot)).toMatchObject({ code: 0 });
      expect(execSync(printed, { cwd: '/', env, encoding: 'utf8' })).toContain('1 sent');
      const { code, stderr } = await services.signal('SIGTERM');
      expect([code, stderr]).toEqual([0, expect.not.stringMatching(/warning: (?!--min-free)/)]);
      expect(notOwned(data)).toEqual([]);
    },
  );

  test('learns the name of the user to run viewlog as, or the id of a user without a name', () => {
    expect([userName(0), userName(4711)]).toEqual(['root', '#4711']);
  });

  test("doesn't change the owner of a link's target", async () => {
    const data = serviceDirectory();
    const victim = join(tempDir(), 'victim');
    fs.writeFileSync(victim, 'root only');
    fs.symlinkSync(victim, join(data, 'projects.schema.json'));
    await run(['activate', MINIMAL_VIEW.p], { data, user: ROOT });
    expect([fs.readFileSync(victim, 'utf8'), fs.statSync(victim).uid]).toEqual(['root only', 0]);
  });
});
