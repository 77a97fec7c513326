import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { TOPICS } from '../src/manual/pages.ts';
import { blocksOf, read, ROOT } from './support/documents.ts';
import { tempDir } from './support/temp-dir.ts';
import { run, startViewlog } from './support/viewlog.ts';
import { MINIMAL_VIEW } from './support/views.ts';

// Compares the README's examples with the program.

const README = read('README.md');

it('the README has at most 120 lines', () => {
  expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});

it('the README links to every page of the manual', () => {
  const missing = TOPICS.filter((topic) => !README.includes(`](src/manual/${topic}.md)`));
  expect(missing).toStrictEqual([]);
});

describe("the README's first view", () => {
  const [, curl, answer, line, refusal] = blocksOf(README).map(({ text }) => text);
  const [, body = ''] = /-d '(.*)'/.exec(curl!) ?? [];

  it('is accepted, answered and stored as the README says', async () => {
    const viewlog = await startViewlog();
    const accepted = await viewlog.post(body);
    expect(accepted.status).toBe(201);
    const { id } = (await accepted.json()) as { id: string };
    const storedId = (JSON.parse(answer!) as { id: string }).id;
    const [stored = ''] = viewlog.lines();
    const sameTime = stored.replace(/"ts":"[^"]+"/, /"ts":"[^"]+"/.exec(line!)![0]);
    expect(sameTime.replace(id, storedId)).toBe(line!.trimEnd());
  });

  it('is refused if its url lacks the slash, as the README says', async () => {
    const viewlog = await startViewlog();
    const refused = await viewlog.post(body.replace('"/home"', '"home"'));
    expect(await refused.text()).toBe(refusal!.trimEnd());
  });

  it("belongs to a project in the checkout's projects file", async () => {
    const args = ['explain', '--projects', `${ROOT}/data/projects.json`];
    const { stdout } = await run(args, { input: body });
    expect(stdout).toBe('201: the view would be stored, for project 1000001\n');
  });
});

it("after the README's commands, only the site that they name can send views", async () => {
  const { text = '' } = blocksOf(README).find((block) => block.text.includes(' snippet ')) ?? {};
  const commands = text.replace('npm start\n', '');
  const HOME = tempDir();
  const env = { PATH: process.env['PATH'], HOME };
  const printed = execFileSync('sh', ['-ec', commands], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  });
  expect(printed).toMatch(/<script>.*="2000002",.*fetch\("http:\/\/127\.0\.0\.1:8080\/view",/);
  const viewlog = await startViewlog({ data: `${HOME}/viewlog-data` });
  const statusFrom = async (origin: string): Promise<number> =>
    (await viewlog.post({ ...MINIMAL_VIEW, p: '2000002' }, { origin })).status;
  expect(await statusFrom('http://localhost:3000')).toBe(201);
  expect(await statusFrom('http://localhost:3001')).toBe(403);
});
