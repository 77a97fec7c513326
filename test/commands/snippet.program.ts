import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { viewUrl, Problem } from '../../src/base/option.ts';
import { tempDir } from '../support/temp-dir.ts';
import { dataDirectory, run, startViewlog, until } from '../support/viewlog.ts';

// What `viewlog snippet` prints; snippet-in-chromium.world.ts has pages that bear it.

const SCRIPT = /^<script>(.*)<\/script>\n$/;
const ADDRESS = 'https://views.example.com';

const snippet = (...args: string[]) => run(['snippet', ...args], { data: dataDirectory() });

describe('the script', () => {
  it('is one element of ASCII on one line, with the hash that a policy needs', async () => {
    for (const args of [[], ['--campaigns']]) {
      const { code, stdout, stderr } = await snippet('1000001', '--url', ADDRESS, ...args);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^[ -~]+\n$/);
      const [, script = ''] = SCRIPT.exec(stdout)!;
      const hash = createHash('sha256').update(script).digest('base64');
      expect(stderr).toBe(
        'Pages that have a Content-Security-Policy need in it: ' +
          `script-src 'sha256-${hash}'; connect-src ${ADDRESS}\n`,
      );
    }
  });

  it('takes at most 1,500 bytes with the longest id and a long address, or is refused', async () => {
    const id = '9'.repeat(20);
    const long = (length: number): string => {
      const url = 'https://views.example.com:65535/';
      return `${url}${'x'.repeat(length - url.length - '/view'.length)}`;
    };
    const lengthOf = async (length: number): Promise<number> =>
      (await snippet(id, '--campaigns', '--url', long(length))).stdout.length;
    const room = 1500 - ((await lengthOf(40)) - 40);
    expect(room).toBeGreaterThanOrEqual(44);
    expect(await lengthOf(room)).toBe(1500);
    expect(await snippet(id, '--campaigns', '--url', long(room + 1))).toMatchObject({
      code: 64,
      stdout: '',
      stderr: 'error: --url is 1 character too long for a small script\n',
    });
  });

  it('cannot be ended or broken out of by the address', async () => {
    const url = `https://views.example.com/"</script><!--<b>'\${x}/$&$'`;
    const { code, stdout } = await snippet('1000001', '--url', url);
    expect(code).toBe(0);
    const [, script = ''] = SCRIPT.exec(stdout)!;
    expect(script).not.toMatch(/<\/|<!--|<b>/);
    const argument = JSON.parse(/\("1000001",(".*")\);$/.exec(script)![1]!) as string;
    expect(decodeURI(argument)).toBe(`${url}/view`);
    for (const id of ['1"', '</script>', '1'.repeat(21), '']) {
      expect(await snippet(id, '--url', ADDRESS)).toMatchObject({ code: 64, stdout: '' });
    }
    expect(await snippet('1', '--host', '</script>')).toMatchObject({
      code: 64,
      stderr: 'error: --host is no address; give --url\n',
    });
  });
});

describe('the address', () => {
  it.each([
    ['https://views.example.com', 'https://views.example.com/view'],
    ['https://views.example.com/', 'https://views.example.com/view'],
    ['https://views.example.com/view', 'https://views.example.com/view'],
    ['HTTP://VIEWS.example.com:80/view/', 'http://views.example.com/view'],
    ['https://example.com/stats/view', 'https://example.com/stats/view'],
    ['https://example.com/review', 'https://example.com/review/view'],
    ['https://view', 'https://view/view'],
    ['http://[::1]:8080', 'http://[::1]:8080/view'],
  ])('%s is posted to at %s', (text, url) => {
    expect(viewUrl(text)).toBe(url);
  });

  it.each([
    'views.example.com',
    '/view',
    'ftp://a',
    'https://u:p@a',
    'https://a/?b',
    'https://a b',
  ])('%s is none', (text) => {
    expect(viewUrl(text)).toBeInstanceOf(Problem);
  });

  it("is that of a collector with serve's options where none is given, which is doubted", async () => {
    const { stdout, stderr } = await snippet('1000001', '--host', '::', '--port', '8088');
    expect(stdout).toContain('("1000001","http://[::1]:8088/view")');
    expect(stderr).toContain('warning: Only browsers on this machine reach http://[::1]:8088/view');
  });
});

describe('a project whose views would be refused', () => {
  it('has its script where it is inactive, with a warning', async () => {
    const data = dataDirectory();
    const { code, stdout, stderr } = await run(['snippet', '1000002', '--url', ADDRESS], { data });
    expect(code).toBe(0);
    expect(stdout).toMatch(SCRIPT);
    expect(stderr).toContain(
      `warning: Project 1000002 is inactive in ${data}/projects.json, its views refused;`,
    );
  });

  it('has its script where it is not listed, which ends with the code that deactivate has for it', async () => {
    const data = dataDirectory();
    const { code, stdout, stderr } = await run(['snippet', '7', '--url', ADDRESS], { data });
    expect(code).toBe((await run(['deactivate', '7'], { data })).code);
    expect(code).toBe(64);
    expect(stdout).toMatch(SCRIPT);
    expect(stderr).toContain('script-src');
    expect(stderr).toContain(
      `error: Project 7 is not listed in ${data}/projects.json, its views refused; "viewlog activate 7"\n`,
    );
  });

  it('has it too where the projects file is missing', async () => {
    const data = join(tempDir(), 'none');
    const directory = tempDir();
    const args = ['snippet', '1', '--url', ADDRESS, '--projects', join(data, 'projects.json')];
    const { code, stdout, stderr } = await run(args, { data: directory });
    expect(code).toBe(0);
    expect(stdout).toMatch(SCRIPT);
    expect(stderr).toContain("it doesn't exist");
  });
});

describe('activate', () => {
  it.each([
    ['any site', [], undefined],
    ['a site', ['--origin', 'https://www.example.com'], 'https://www.example.com'],
    [
      'all below a site',
      ['--origin', 'https://*.example.com', '--origin', 'https://a.example'],
      'https://a.example',
    ],
  ])('ends with a command and a curl that work, for %s', async (_, origins, site) => {
    const data = dataDirectory({ projects: [] });
    const viewlog = await startViewlog({ data });
    const args = ['activate', '7', '--port', String(viewlog.port), ...origins];
    const lines = (await run(args, { data })).stdout.split('\n');
    const [command = '', hint, title, curl, ...rest] = lines.slice(
      lines.indexOf('The script for its pages:') + 1,
    );
    const url = site ?? viewlog.url;
    expect(command).toBe(`  viewlog snippet 7 --url ${url} --projects ${data}/projects.json`);
    expect((await run(command.trim().split(' ').slice(1), { data })).stdout).toContain(
      `"${url}/view"`,
    );
    expect(hint).toBe('  (--url is the address at which browsers reach viewlog)');
    expect([title, rest]).toStrictEqual([expect.stringMatching(/^A view, to try it/), ['']]);
    viewlog.child.kill('SIGHUP');
    await until(() => viewlog.stdout().includes('1 active'));
    const { stdout } = spawnSync('sh', ['-c', `${curl!} -sS`], { encoding: 'utf8' });
    expect(stdout).toMatch(/^\{"id":"/);
    expect(viewlog.lines()).toHaveLength(1);
  });
});
