import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { startViewlog, run, dataDirectory } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

function logged(format: 'text' | 'json', journal = false): string[] {
  const lines: string[] = [];
  const log = createLog(format, {
    out: (line) => lines.push(`out ${line}`),
    err: (line) => lines.push(`err ${line}`),
    now: () => 0,
    isJournal: () => journal,
  });
  log.info('begun');
  log.warn('odd');
  log.error('"broken"');
  return lines;
}

describe('the log', () => {
  it('is a line an event, without a time', () => {
    expect(logged('text')).toStrictEqual(['out begun', 'err warning: odd', 'err error: "broken"']);
  });

  it('tells the journal its priorities', () => {
    expect(logged('text', true)).toStrictEqual(['out <6>begun', 'err <4>odd', 'err <3>"broken"']);
  });

  it('is JSON for programs', () => {
    expect(logged('json', true)).toStrictEqual([
      'out {"time":"1970-01-01T00:00:00.000Z","level":"info","message":"begun"}',
      'err {"time":"1970-01-01T00:00:00.000Z","level":"warn","message":"odd"}',
      'err {"time":"1970-01-01T00:00:00.000Z","level":"error","message":"\\"broken\\""}',
    ]);
  });
});

const parsed = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string; message: string });

it('viewlog --log json says nothing that is not JSON, to its end', async () => {
  const viewlog = await startViewlog({ args: ['--log=json'] });
  await viewlog.post({ ...MINIMAL_VIEW, p: '9' });
  const { stdout, stderr } = await viewlog.signal('SIGTERM');
  expect(parsed(stdout)).toMatchObject([
    { level: 'info', message: `viewlog listening on ${viewlog.url}` },
    { level: 'info', message: 'viewlog stopping' },
  ]);
  expect(stderr).toBe('');
  const data = dataDirectory({ projects: [{ id: 1 }, { di: '2' }] });
  const failed = await run(['serve', '--log=json', '--status=off'], { data });
  expect(failed.code).toBe(78);
  expect(parsed(failed.stderr).map(({ level }) => level)).toContain('error');
  expect(parsed(failed.stderr).length).toBeGreaterThan(1);
});
