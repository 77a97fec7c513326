import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { viewUrl } from '../../src/base/option.ts';
import { tempDir } from '../support/temp-dir.ts';
import { startWatched } from '../support/status.ts';
import { dataDirectory, run, startViewlog } from '../support/viewlog.ts';

// The output of `viewlog snippet`; in snippet.world.ts, pages run the script.

const SCRIPT = /^<script>(.*)<\/script>\n$/;
const ADDRESS = 'https://views.example.com';

const snippet = (...args: string[]) => run(['snippet', ...args], { data: dataDirectory() });

describe('the script', () => {
  it.each([
    ['without options', []],
    ['with --campaigns', ['--campaigns']],
  ])('is one element on one line of ASCII, printed with its hash, %s', async (_, args) => {
    const { code, stdout, stderr } = await snippet('1000001', '--url', ADDRESS, ...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[ -~]+\n$/);
    const [, script = ''] = SCRIPT.exec(stdout)!;
    const hash = createHash('sha256').update(script).digest('base64');
    expect(stderr).toContain(`  to connect-src: ${ADDRESS}\n`);
    expect(stderr).toContain(
      `  to script-src-elem or, if the policy has none, to script-src: 'sha256-${hash}'\n`,
    );
    // Template languages would interpret these.
    expect(script).not.toMatch(/\$\{|\{\{|\{%|\{#|#\{|<%|@|`|\[\[|]]>.*]]>/);
  });

  it('has at most 2,000 bytes even with the longest id, because snippet refuses longer addresses', async () => {
    const id = '9'.repeat(20);
    const long = (length: number): string => {
      const url = 'https://views.example.com:65535/';
      return `${url}${'x'.repeat(length - url.length - '/view'.length)}`;
    };
    const lengthOf = async (length: number): Promise<number> =>
      (await snippet(id, '--campaigns', '--url', long(length))).stdout.length;
    const left = 2000 - ((await lengthOf(40)) - 40);
    expect(left).toBeGreaterThanOrEqual(44);
    expect(await lengthOf(left)).toBe(2000);
    expect(await snippet(id, '--campaigns', '--url', long(left + 1))).toMatchObject({
      code: 64,
      stdout: '',
      stderr: 'error: --url makes the script 1 character too long; use a shorter address\n',
    });
  });

  it("contains the address in a form that can't end the script", async () => {
    const url = `https://views.example.com/"</script><!--<b>'\${x}/$&$'`;
    const { code, stdout } = await snippet('1000001', '--url', url);
    expect(code).toBe(0);
    const [, script = ''] = SCRIPT.exec(stdout)!;
    expect(script).not.toMatch(/<\/|<!--|<b>/);
    const argument = JSON.parse(/fetch\(("http.*?[^\\]"),/.exec(script)![1]!) as string;
    expect(decodeURI(argument)).toBe(`${url}/view`);
    for (const args of [['1"'], [''], ['1'.repeat(21)], ['1', '--host', '</script>']]) {
      expect(await snippet(...args)).toMatchObject({ code: 64, stdout: '' });
    }
  });
});

it.each([
  ['https://views.example.com', 'https://views.example.com/view'],
  ['HTTP://VIEWS.example.com:80/view/', 'http://views.example.com/view'],
  ['https://example.com/stats/view', 'https://example.com/stats/view'],
  ['https://example.com/review', 'https://example.com/review/view'],
  ['http://[::1]:8080', 'http://[::1]:8080/view'],
])('with --url %s, the address for views is %s', (text, url) => {
  expect(viewUrl.read(text)).toBe(url);
});

it.each(['views.example.com', 'ftp://a', 'https://u:p@a', 'https://a/?b', 'https://a b'])(
  '"%s" isn\'t a valid --url',
  (text) => {
    expect(viewUrl.read(text)).toBeUndefined();
  },
);

it('snippet names the listed project that a mistyped id probably means', async () => {
  const data = dataDirectory({ projects: [{ id: '3000003' }, { id: '300003' }] });
  const said = async (id: string) =>
    (await run(['snippet', id, '--url', ADDRESS], { data })).stderr.match(
      /^warning: .*typo.*$/m,
    )?.[0];
  expect(await said('30000033')).toMatch(
    /^warning: 30000033 is one typo away from 3000003, which is listed; if you meant 3000003, run: .* snippet 3000003 /,
  );
  expect(await said('3000003')).toBeUndefined();
});

it("snippet warns if the address is the status page's", async () => {
  const { data, url, statusPort } = await startWatched();
  const local = `http://localhost:${statusPort}`;
  const { stderr } = await run(['snippet', '1000001', '--url', local], { data });
  expect(stderr).toContain(
    `warning: ${local}/view is the address of the status page; views go to ${url}\n`,
  );
});

it("snippet warns if pages on https can't send to the address", async () => {
  const { stderr } = await snippet('1000001', '--url', 'http://views.example.com');
  expect(stderr).toContain("warning: Pages on https can't send to http://views.example.com/view;");
  for (const url of [ADDRESS, 'http://127.0.0.1:8080']) {
    expect((await snippet('1000001', '--url', url)).stderr).not.toContain('on https');
  }
});

it('without --url, snippet uses the address of the running collector, or else that of the options', async () => {
  const { data, url } = await startViewlog();
  const running = await run(['snippet', '1000001', '--port', '1'], { data });
  expect(running.stdout).toMatch(new RegExp(`="1000001",.*fetch\\("${url}/view",`));
  const { stdout, stderr } = await snippet('1000001', '--host', '::', '--port', '8088');
  expect(stdout).toContain('fetch("http://[::1]:8088/view",');
  expect(stderr).toContain(
    'warning: Only browsers on this machine can reach http://[::1]:8088/view',
  );
});

it.each([
  [
    'an inactive project',
    '1000002',
    dataDirectory,
    'Project 1000002 is inactive in FILE, so its views are refused; to accept them from every site, run',
  ],
  [
    'an unlisted project',
    '7',
    dataDirectory,
    "Project 7 isn't listed in FILE, so its views are refused; to accept them from every site, run",
  ],
  [
    'any project if the projects file is missing',
    'ID',
    tempDir,
    `Can't read projects file "FILE": it doesn't exist. If the directory was moved, move it back; if its disk isn't mounted, mount it. Otherwise, check --data or --projects, or create the file \\(replace ID with a project's id\\)`,
  ],
])('snippet prints the script and a warning for %s', async (_, project, newDirectory, warning) => {
  const data = newDirectory();
  const args = ['snippet', project === 'ID' ? '1' : project, '--url', ADDRESS];
  const { code, stdout, stderr } = await run(args, { data });
  expect([code, stdout]).toStrictEqual([0, expect.stringMatching(SCRIPT)]);
  const fix = `: /.* activate ${project === 'ID' ? 'ID' : project} --data ${data}\n`;
  const said = stderr.replaceAll(`${data}/projects.json`, 'FILE');
  expect(said).toMatch(new RegExp(`warning: ${warning}${fix}`));
  const isUnchecked = said.includes(
    "\nwarning: This command couldn't check whether project 1 is active\n",
  );
  expect(isUnchecked).toBe(project === 'ID');
});
