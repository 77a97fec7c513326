import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Random } from '../simulation/random.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { dataDirectory, refusedPaths, start, startViewlog, until } from '../support/viewlog.ts';

// Real programs, killed at random moments: `kill -9` of a replay or of its collector, with the
// collector's projects file or another one, of one file under several names. A seed decides what
// happens; the system decides how far a program has come. REPLAY_SEED=n repeats one.

const COUNT = 60;
const STEPS = 5;
/** A replay of all views takes about a second once its program runs. */
const LIFE_MS = 1_500;
const LISTS = ['[]', '[{"id":"1000001"}]', '[{"id":"1000001"},{"id":"2"}]', '[{"id":"2"}]'];
const seeds = [process.env['REPLAY_SEED'] ?? ['1', '2']].flat();

it.each(seeds)('killed anywhere, stores each view once or lists it, seed %s', async (seed) => {
  const random = new Random(Number(seed));
  const data = dataDirectory({ projects: [] });
  const projects = join(data, 'projects.json');
  const other = join(data, 'other.json');
  const write = (path: string, list: string): void => writeFileSync(path, `{"projects":${list}}`);
  // Written once: a replay waits some seconds after an edit of its projects file.
  write(other, random.pick(LISTS));
  let viewlog = await startViewlog({ data });
  for (let n = 0; n < COUNT; n++) {
    const p = n % 2 === 0 ? '1000001' : '2';
    const { status } = await viewlog.post({ ...MINIMAL_VIEW, p, pid: String(n) });
    expect(status).toBe(403);
  }
  await until(() => viewlog.refusedLines().length === COUNT);
  const refused = viewlog.refusedLines().map((line) => JSON.parse(line) as Refused);
  const names = refusedPaths(data);
  const stored = (): string[] =>
    viewlog.lines().flatMap((line) => (line.endsWith('}') ? [JSON.parse(line).pid as string] : []));
  const replay = (path: string) => {
    const args = [`--port=${viewlog.port}`, `--data=${data}`, `--projects=${path}`];
    return start(['replay', random.pick(names), ...args], data);
  };
  const restart = async (): Promise<void> => {
    await viewlog.signal(random.pick(['SIGKILL', 'SIGTERM']));
    viewlog = await startViewlog({ data });
  };
  const trace: string[] = [];
  let interruptions = 0;
  for (let step = 0; step < STEPS; step++) {
    if (random.chance(0.4)) write(projects, random.pick(LISTS));
    const { child, ended } = replay(random.chance(0.7) ? projects : other);
    const victim = random.pick(['replay', 'replay', 'collector', 'none']);
    // The program waits until the collector has followed an edit.
    const killed = sleep(random.below(LIFE_MS) + (random.chance(0.5) ? 3_000 : 0)).then(() => {
      if (victim === 'replay') child.kill('SIGKILL');
      return victim === 'collector' ? restart() : undefined;
    });
    const { code, signal } = await ended;
    await killed;
    trace.push(`${victim}: ${signal ?? code}, ${stored().length} stored`);
    if (signal !== null || victim === 'collector') interruptions += 1;
  }
  write(projects, LISTS[2]!);
  const { stdout, code } = await replay(projects).ended;
  const [, ids = ''] = /may be stored: (.*)/.exec(stdout) ?? [];
  const unknown = ids.split(' ').filter(Boolean);
  expect(code, trace.join('\n')).toBe(unknown.length === 0 ? 0 : 65);
  expect(unknown.length, trace.join('\n')).toBeLessThanOrEqual(interruptions);
  const found = stored();
  expect(new Set(found).size, trace.join('\n')).toBe(found.length);
  const missing = refused.filter(({ view }) => !found.includes(view.pid)).map(({ id }) => id);
  expect(
    missing.filter((id) => !unknown.includes(id)),
    trace.join('\n'),
  ).toStrictEqual([]);
});

interface Refused {
  readonly id: string;
  readonly view: { readonly pid: string };
}
