import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { Report } from '../../src/report/schema.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { storedLines } from '../support/stored-lines.ts';
import { tempDir } from '../support/temp-dir.ts';
import { storedViews } from '../support/stored-views.ts';
import { dataDirectory, run, start } from '../support/viewlog.ts';
import { rowsOf, viewAt } from './report-on.ts';

const DAY = '2026-03-01';
const NAME = `views-${DAY}.ndjson`;
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

type Files = Record<string, string | Buffer>;

function dataWith(files: Files): string {
  const data = dataDirectory();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(data, name), content);
  return data;
}

async function json(files: Files, ...args: string[]): Promise<Report> {
  const data = dataWith(files);
  const { code, stdout, stderr } = await run(['report', '--json', ...args], { data });
  expect([code, stderr]).toStrictEqual([0, '']);
  return JSON.parse(stdout) as Report;
}

it('report counts every view that the collector accepted, whatever the view contains', async () => {
  const { data, lines } = await storedViews();
  const accepted = lines.length;
  const args = ['report', '--json', '--query', '--top', '99'];
  const report = JSON.parse((await run(args, { data })).stdout) as Report;
  expect([report.views, report.invalidLines]).toStrictEqual([accepted, 0]);
  expect(rowsOf(report.projects)).toStrictEqual([`1000001 ${accepted}`]);
  expect(rowsOf(report.languages)).toContain('ca-ES-valencia 1');
  expect(rowsOf(report.pages)).toContain('/å?ä=ö#\u0000 "quoted" 1');
});

it('in the chosen time zone, report counts the chosen days and the same number of days before them', async () => {
  const times = ['2026-02-28T22:59:59.000Z', '2026-02-28T23:00:00.000Z', `${DAY}T23:00:00.000Z`];
  const files = { [NAME]: text(times.map((time) => viewAt(time))) };
  const asked = ['--time-zone', 'europe/oslo', '--to', DAY];
  for (const first of ['--last=1', `--from=${DAY}`]) {
    const { timeZone, views, before } = await json(files, ...asked, first);
    expect([timeZone, views, before?.views]).toStrictEqual(['Europe/Oslo', 1, 1]);
  }
});

it("report counts lines that aren't UTF-8 as invalid and ignores the line that is being written", async () => {
  const [whole] = storedLines(DAY, 1);
  const content = Buffer.from(`X\n${whole}\n${whole}`);
  content[0] = 0xff;
  const report = await json({ [NAME]: content });
  expect([report.views, report.invalidLines]).toStrictEqual([1, 1]);
});

it('report reads both files of a day that was compressed too early, but only one of two copies of a day', async () => {
  const [one, two, three] = storedLines(DAY, 3);
  const compressed = { [`${NAME}.gz`]: gzipSync(text([one!, two!])) };
  expect((await json({ ...compressed, [NAME]: text([three!]) })).views).toBe(3);
  const counted = async (lines: string[]): Promise<string> => {
    const data = dataWith({ ...compressed, [NAME]: text(lines) });
    const { stdout, stderr } = await run(['report', '--json'], { data });
    return `${(JSON.parse(stdout) as Report).views} ${stderr}`;
  };
  expect(await counted([one!])).toBe(
    `2 warning: ${NAME} and ${NAME}.gz begin with the same view, so the report counts only ${NAME}.gz, which is at least as long\n`,
  );
  expect(await counted([one!, two!, three!])).toBe(
    `3 warning: ${NAME} and ${NAME}.gz begin with the same view, so the report counts only ${NAME}, which is at least as long\n`,
  );
  expect(await counted(['X'])).toBe(
    `2 warning: ${NAME} and ${NAME}.gz are for the same day, so the report counts only ${NAME}.gz, which is at least as long\n`,
  );
});

it.each([
  ['', 'UTC'],
  ['Asia/Kathmandu', 'Asia/Kathmandu'],
  [':Europe/Oslo', 'Europe/Oslo'],
  ['Etc/GMT+3', 'Etc/GMT+3'],
])('with TZ="%s", report uses the days of %s', async (TZ, zone) => {
  const options = { data: dataWith({ [NAME]: text([viewAt(DAY)]) }), env: { TZ } };
  expect((await run(['report'], options)).stdout).toContain(`All projects, ${DAY} (${zone})\n`);
});

it.each(['foo', 'GMT+3', 'CET-1CEST,M3.5.0,M10.5.0/3', '<+03>-3', 'Etc/Unknown'])(
  "report refuses TZ=%s, which isn't the name of a time zone",
  async (TZ) => {
    const options = { data: dataWith({ [NAME]: text([viewAt(DAY)]) }), env: { TZ } };
    const { code, stdout, stderr } = await run(['report'], options);
    expect([code, stdout]).toStrictEqual([64, '']);
    expect(stderr).toContain(`error: TZ "${TZ}" isn't the name of a time zone; set TZ or`);
  },
);

it('report warns of a directory that is no data directory', async () => {
  const { code, stderr } = await run(['report'], { data: tempDir() });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^warning: No view files in ".*"\. If it is the data directory, no view /);
});

it('report warns of a projects file that an option names but that is missing', async () => {
  const data = dataWith({ [NAME]: text([viewAt(DAY)]) });
  const { code, stderr } = await run(['report', '--projects', '/no/p.json'], { data });
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /"\/no\/p\.json": it doesn't exist\. The report shows ids instead of names /,
  );
});

it('report warns of a period in the future', async () => {
  const { code, stderr } = await run(['report', '--from', '2999-01-01'], {
    data: dataWith({ [NAME]: text([viewAt(DAY)]) }),
  });
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^warning: The report begins on 2999-01-01, which is in the future: today is /,
  );
});

it('report counts no file twice', async () => {
  const data = dataWith({ [NAME]: text([viewAt(DAY)]) });
  const file = join(data, NAME);
  const { code, stdout, stderr } = await run(['report', file, `${data}/./${NAME}`], { data });
  expect([code, stdout]).toStrictEqual([65, '']);
  expect(stderr).toContain('is given twice; name it once');
});

it.each([
  ['.', '"." is a directory; to read its view files, use --data .'],
  ['last', '"last" isn\'t a file; for the last days, use --last DAYS'],
  ['1000001', '"1000001" isn\'t a file; for one project, use --project 1000001'],
  [
    'yesterday',
    '"yesterday" isn\'t a file; for that day alone, use --from yesterday --to yesterday',
  ],
])('report given %s instead of a file names the option', async (operand, said) => {
  const { code, stderr } = await run(['report', operand]);
  expect([code, stderr]).toStrictEqual([64, `error: ${said}\n`]);
});

it('report overwrites a page, but no other file', async () => {
  const data = dataWith({ [NAME]: text([viewAt(DAY)]), 'page.html': '' });
  const before = readFileSync(`${data}/${NAME}`, 'utf8');
  for (let time = 0; time < 2; time++) {
    expect(await run(['report', '--html', `${data}/page.html`], { data })).toMatchObject({
      code: 0,
    });
  }
  writeFileSync(`${data}/index.html`, '<!doctype html><title>My site</title>');
  for (const name of [NAME, 'index.html']) {
    const { code, stderr } = await run(['report', '--html', `${data}/${name}`], { data });
    expect([code, stderr]).toStrictEqual([
      73,
      `error: "${data}/${name}" exists and isn't a report of viewlog; name another file for --html\n`,
    ]);
  }
  expect(readFileSync(`${data}/${NAME}`, 'utf8')).toBe(before);
});

it('report prints the command that decompresses a zstd file', async () => {
  const { code, stderr } = await run(['report', 'a.ndjson.zst']);
  expect([code, stderr]).toStrictEqual([
    65,
    'error: "a.ndjson.zst" is compressed with zstd, which viewlog can\'t read; run: zstd -d --rm a.ndjson.zst\n',
  ]);
});

it.each([
  ['/no/data', "it doesn't exist; check --data"],
  ['/dev/null', "it isn't a directory, or a part of its path isn't; check --data"],
])('report with --data %s names the option', async (path, why) => {
  const { code, stderr } = await start(['report', '--data', path], dataWith({})).ended;
  expect(code).toBe(74);
  expect(stderr).toContain(`error: Can't read "${path}": ${why}\n`);
});

it('report counts the readable part of a damaged compressed file and warns about the file', async () => {
  const compressed = gzipSync(text(storedLines(DAY, 2000)));
  const data = dataWith({
    [`${NAME}.gz`]: compressed.subarray(0, compressed.length - 4000),
    'views-2026-03-02.ndjson.gz': 'never compressed',
    'views-2026-03-03.ndjson': text(storedLines('2026-03-03', 5)),
  });
  const { code, stdout, stderr } = await run(['report', '--json'], { data });
  const report = JSON.parse(stdout) as Report;
  expect([code, report.brokenFiles, report.invalidLines]).toStrictEqual([0, 2, 0]);
  expect(report.days.at(-1)).toMatchObject({ day: '2026-03-03', views: 5 });
  const unread = report.days.filter(({ isUnread }) => isUnread).map(({ day }) => day);
  expect([unread, report.silentSpans]).toStrictEqual([['2026-03-01', '2026-03-02'], []]);
  expect(report.views).toBeLessThan(2000);
  expect(
    stderr.match(/^warning: Can't decompress ".*\/views-2026-03-0[12]\.ndjson\.gz": /gm),
  ).toHaveLength(2);
  const { stdout: said } = await run(['report'], { data });
  const [, command] =
    /\n2 compressed files are damaged, so some views are missing\. To find the cause: (.*)\n/.exec(
      said,
    ) ?? [];
  expect(command).toMatch(new RegExp(` verify ${data}$`));
  const pasted = spawnSync('bash', ['-c', command!], { cwd: '/', encoding: 'utf8', env: {} });
  expect([pasted.status, pasted.stdout]).toStrictEqual([
    65,
    expect.stringMatching(/views-2026-03-01[^]*views-2026-03-02/),
  ]);
});

it('report warns about days that exist only as zstd files', async () => {
  const none = { 'views-2026-03-02.ndjson.zst': '', 'refused-2026-03-01.ndjson.zst': '' };
  const days = { 'views-2026-03-04.ndjson.zst': '', 'views-2026-03-09.ndjson.zst': '' };
  const whole = { [NAME]: text(storedLines(DAY, 3)), [`${NAME}.zst`]: '' };
  const data = dataWith({ ...whole, ...none, ...days });
  const asked = ['report', '--from', DAY, '--to', '2026-03-05'];
  expect((await run(asked, { data })).stdout).toMatch(/^ +Wed 4 Mar · not read +0 /m);
  const args = [...asked, '--json'];
  const { stdout, stderr } = await run(args, { data });
  const { views, silentSpans, averageDay, days: all } = JSON.parse(stdout) as Report;
  expect([averageDay, all.filter(({ isUnread }) => isUnread).map(({ day }) => day)]).toStrictEqual([
    1,
    ['2026-03-02', '2026-03-04'],
  ]);
  // The days that weren't read aren't called days without views.
  expect([stderr, views, silentSpans]).toStrictEqual([
    "warning: The report leaves out views-2026-03-02.ndjson.zst and 1 other file, because it can't read zstd; decompress such files with zstd -d --rm\n",
    3,
    [
      { fromDay: '2026-03-03', toDay: '2026-03-03' },
      { fromDay: '2026-03-05', toDay: '2026-03-05' },
    ],
  ]);
});

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);

it.each(RUNTIMES)('report reads files and stdin and writes a page, on %s', async (runtime) => {
  const data = dataWith({ 'some.ndjson.gz': gzipSync(text(storedLines(DAY, 3))) });
  const options = { data, runtime, input: text(storedLines(DAY, 4)) };
  const said = await run(['report', 'some.ndjson.gz', '-', '--time-zone', 'UTC'], options);
  expect(said.stdout).toContain('\n7 views.\n');
  // Named files need not have views of every project.
  expect(said.stdout).not.toContain('no views yet');
  expect(said.stdout.split('\n')[0]).toBe(`All projects, ${DAY} (UTC)`);
  const file = `${data}/a.html`;
  const html = await run(['report', 'some.ndjson.gz', '--html', file], options);
  expect([html.code, html.stdout]).toStrictEqual([0, `Wrote ${file}\n`]);
  const page = readFileSync(file, 'utf8');
  expect(page).toMatch(/^<!doctype html>[^]*:root\{[^]*>3 views\.</);
  expect((await run(['report', '--html', '-'], options)).stdout).toMatch(/^<!doctype html>/);
});

it('report names projects as the projects file does and warns if that file is invalid', async () => {
  const data = tempDir();
  writeFileSync(join(data, NAME), `${viewAt(DAY)}\n`);
  const without = await run(['report', '--json'], { data });
  expect([without.code, without.stderr]).toStrictEqual([0, '']);
  const projects = [{ id: '1000001', name: 'Example site' }];
  writeFileSync(join(data, 'projects.json'), JSON.stringify({ projects }));
  const named = await run(['report', '--project', '1000001'], { data });
  expect(named.stderr).toBe('');
  const isNotListed = `isn't listed in ${data}/projects.json`;
  const unlisted = await run(['report', '--project', '9'], { data });
  expect(unlisted.stderr).toBe(`warning: Project 9 ${isNotListed}\n`);
  const mistyped = await run(['report', '--project', '100001'], { data });
  expect(mistyped.stderr).toBe(
    `warning: Project 100001 ${isNotListed}. If you meant 1000001, use --project 1000001\n`,
  );
  expect(named.stdout).toMatch(/^Example site, .*\n1 view\. No views since Sun 1 Mar\.\n/);
  writeFileSync(join(data, 'projects.json'), '{');
  const faulty = await run(['report', '--json'], { data });
  expect(faulty.code).toBe(0);
  expect(faulty.stderr).toMatch(
    /projects\.json:1:2: expected.*\. The report shows ids instead of names/,
  );
  writeFileSync(join(data, 'projects.json'), '');
  const empty = await run(['report', '--json'], { data });
  expect(empty.stderr).toMatch(/ is empty\. The report shows ids instead of names/);
});

it.each([
  [
    64,
    '--from is after --to',
    'error: --from 2026-03-02 is after --to 2026-03-01',
    ['--from', '2026-03-02', '--to', DAY],
  ],
  [
    64,
    'both --last and --from are given',
    'error: Pass --last or --from, not both: ',
    ['--last', '7', '--from', 'today'],
  ],
  [
    64,
    '--html - and --json are both given',
    'error: --html - and --json both go to stdout',
    ['--html', '-', '--json'],
  ],
  [64, "--from isn't a day", '--from must be a valid date', ['--from', '2026-02-30']],
  [64, 'the time zone is unknown', 'Mars', ['--time-zone', 'Mars']],
  [
    73,
    'the directory of --html is missing',
    `"/not/there.html": its directory doesn't exist; create it`,
    ['--html', '/not/there.html'],
  ],
])('report exits with %i and writes no file if %s', async (code, _, said, args) => {
  const data = dataDirectory();
  const refused = await run(['report', ...args], { data });
  expect(refused).toMatchObject({ code, stdout: '' });
  expect(refused.stderr).toContain(said);
  expect(readdirSync(data)).toStrictEqual(['projects.json']);
});

it("report says what to do if its user isn't allowed to write to the page's directory", async () => {
  const data = dataWith({ [NAME]: text([viewAt(DAY)]) });
  const closed = tempDir();
  const file = join(closed, 'a.html');
  chmodSync(data, 0o755);
  chmodSync(closed, 0o555);
  const root = process.getuid?.() === 0 ? { user: { uid: 4711, gid: 4711 } } : {};
  const refused = await start(['report', '--data', data, '--html', file], '/', root).ended;
  const stderr =
    `error: Can't write "${file}": this user isn't allowed to write there; ` +
    'choose a directory of your own, or let your shell write it: --html - > FILE\n';
  expect(refused).toMatchObject({ code: 73, stdout: '', stderr });
  const words = ['report', '--data', data, '--html', '-'];
  expect((await start(words, '/', root).ended).stdout).toMatch(/^<!doctype html>/);
});
