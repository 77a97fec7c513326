import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sleep } from '../src/base/time.ts';
import { isHere } from './support/runtimes.ts';
import { FULL_VIEW } from './support/views.ts';
import { tempDir } from './support/temp-dir.ts';
import { parsed } from './support/trial.ts';
import {
  dataDirectory,
  linesOf,
  run,
  startProgram,
  startViewlog,
  until,
  type Viewlog,
} from './support/viewlog.ts';

// Tests a real program that follows the files through restarts, crashes, midnights and removals.

const RSYSLOGD = '/usr/sbin/rsyslogd';
const FAKETIME = '/usr/bin/faketime';
const present = isHere(RSYSLOGD) && isHere(FAKETIME);

/** Loads faketime's library without its program, so that signals reach the collector itself. */
function fakeClock(at: string): NodeJS.ProcessEnv {
  const library = fs
    .readdirSync('/usr/lib')
    .map((name) => `/usr/lib/${name}/faketime/libfaketime.so.1`)
    .find((path) => fs.existsSync(path));
  return {
    LD_PRELOAD: library,
    FAKETIME: `@${at}`,
    // Timeouts use the real clock.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    TZ: 'UTC',
  };
}

/** Starts a separate rsyslog with the printed configuration, which writes lines to a file. */
async function rsyslog(data: string, template = 'viewlog') {
  const dir = tempDir();
  const [work, out, config] = [join(dir, 'work'), join(dir, 'out'), join(dir, 'rsyslog.conf')];
  fs.mkdirSync(work);
  const { stdout } = await run(['example', 'rsyslog'], { data });
  const own = stdout
    .replaceAll('/var/spool/rsyslog', work)
    .replace('/var/log/viewlog-shipped.ndjson', out)
    .replace('template="viewlog"', `template="${template}"`)
    .replace('view - %msg%"', String.raw`view - %msg%\n"`);
  fs.writeFileSync(config, own);
  const start = () => startProgram([RSYSLOGD, '-n', '-f', config, '-i', join(dir, 'pid')]);
  let running = start();
  return {
    /** Returns every line that rsyslog has shipped. */
    lines: () => (fs.existsSync(out) ? fs.readFileSync(out, 'utf8').split('\n').slice(0, -1) : []),
    /** Stops rsyslog and starts it again at its position. */
    async restart() {
      await running.signal('SIGTERM');
      running = start();
    },
  };
}

/** Returns the ids of the lines that aren't fragments. */
const idsOf = (lines: readonly string[]): string[] =>
  lines.map((line) => parsed(line)?.id).filter((id) => id !== undefined);

/** 32 levels, more than rsyslog's parser accepts. */
const DEEP = JSON.parse('['.repeat(32) + ']'.repeat(32)) as unknown;

/** Sends views of up to 9 kB, one after the other, for `ms`; adds their ids to `ids`. */
async function postFor(viewlog: Viewlog, ms: number, ids: Set<string>): Promise<void> {
  const end = performance.now() + ms;
  for (let i = 0; performance.now() < end; i++) {
    const change = i % 10 === 0 ? { cf: DEEP } : { pn: 'x'.repeat(Math.random() * 9000) };
    const answer = await viewlog.post({ ...FULL_VIEW, ...change });
    expect(answer.status).toBe(201);
    ids.add(((await answer.json()) as { id: string }).id);
  }
}

describe.skipIf(!present)('rsyslog', () => {
  it('ships every stored view once despite midnight, kill -9, a fragment, restarts and a removed day', async () => {
    const data = dataDirectory();
    const days = ['2026-03-01', '2026-03-02', '2026-03-03'];
    const stored = new Set<string>();
    const allShipped = (): Promise<unknown> => {
      for (const id of idsOf(linesOf(data, 'views'))) stored.add(id);
      return until(() => idsOf(shipper.lines()).length >= stored.size);
    };
    const start = (at: string, ...args: string[]): Promise<Viewlog> =>
      startViewlog({ data, args, env: fakeClock(at) });

    // rsyslog also ships the lines from before its start. Then midnight passes under load, and
    // viewlog is killed.
    const first = await start('2026-03-01 23:59:48');
    await postFor(first, 300, stored);
    const shipper = await rsyslog(data);
    await postFor(first, 300, stored);
    // Ten seconds are left for slow machines to get here.
    while (!fs.existsSync(join(data, `views-${days[1]!}.ndjson`)))
      await postFor(first, 300, stored);
    await postFor(first, 500, stored);
    const unanswered = Array.from({ length: 50 }, () => first.post(FULL_VIEW).catch(() => {}));
    await first.signal('SIGKILL');
    await Promise.all(unanswered);
    expect(linesOf(data, 'views').map((line) => line.slice(7, 17))).toEqual(
      expect.arrayContaining(days.slice(0, 2)),
    );

    // Adds a fragment, as a crash leaves one; the next start seals it.
    const fragment = '{"ts":"2026-03-02T00:00:01.000Z","id":"';
    fs.appendFileSync(join(data, `views-${days[1]!}.ndjson`), fragment);
    const second = await start('2026-03-02 00:00:10');
    await postFor(second, 300, stored);
    await allShipped();
    await shipper.restart();
    await postFor(second, 300, stored);
    expect((await second.signal('SIGTERM')).code).toBe(0);
    await allShipped();

    // Removes a day, as retention does. The last day may get the first day's inode number.
    fs.rmSync(join(data, `views-${days[0]!}.ndjson`));
    const third = await start('2026-03-03 12:00:00');
    await postFor(third, 300, stored);
    await third.signal('SIGTERM');
    await allShipped();

    // Lines that rsyslog ships twice would have arrived by then.
    await sleep(500);
    const shipped = shipper.lines();
    expect(idsOf(shipped).toSorted()).toStrictEqual([...stored].toSorted());
    const whole = linesOf(data, 'views').filter((line) => parsed(line) !== undefined);
    expect(whole.filter((line) => !shipped.includes(line))).toStrictEqual([]);
  }, 40_000);

  it("gives a syslog server each view with the view's time", async () => {
    const data = dataDirectory();
    const viewlog = await startViewlog({ data });
    await viewlog.post(FULL_VIEW);
    const shipper = await rsyslog(data, 'viewlogSyslog');
    await until(() => shipper.lines().length > 0);
    const [line = ''] = linesOf(data, 'views');
    const [header, message] = shipper.lines()[0]!.split(' viewlog - view - ');
    expect(header).toMatch(/^<134>1 [^ ]+ [^ ]+$/);
    expect(header!.split(' ')[1]).toBe((JSON.parse(line) as { ts: string }).ts);
    expect(message).toBe(line);
  });
});
