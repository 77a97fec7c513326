import { describe, expect, it } from 'vitest';
import { readView } from '../../src/view/read-view.ts';
import { isRefusal, type Refusal } from '../../src/view/refusal.ts';
import { cpuRatio, growth } from '../support/growth.ts';
import { FULL_VIEW } from '../support/views.ts';

function refused(view: object | string): Refusal {
  const answer = readView(typeof view === 'string' ? view : JSON.stringify(view));
  if (!isRefusal(answer)) throw new Error(`accepted: ${JSON.stringify(answer)}`);
  return answer;
}

describe('the faults of a view', () => {
  it('stand where their object does, and the first of them is told', () => {
    const { detail, issues } = refused({
      ...FULL_VIEW,
      zz: 1,
      url: 'x',
      content: { templateID: 'x' },
      mv: { vtt: 1, vt: 1, v30: 1, dlv: 1 },
    });
    expect(issues!.map(({ field }) => field)).toStrictEqual([
      'mv.vtt',
      'url',
      'content.templateID',
      'content.templateId',
      'zz',
    ]);
    expect(detail).toContain('5 faults. "mv.vtt" is not a field of a view; did you mean "mv.vt"?');
  });

  it('are each counted, also of a field that is named like one inside another', () => {
    const { issues } = refused({ ...FULL_VIEW, mv: { vt: '', v30: 1, dlv: 1 }, 'mv.vt': 1 });
    expect(issues!.map(({ field, received }) => [field, received])).toStrictEqual([
      ['mv.vt', '""'],
      ['mv.vt', '1'],
    ]);
  });

  it('are counted to the last in a list, also those of fields behind it', () => {
    const p = Array.from({ length: 120 }, (_, i) => (i % 2 ? i : 'page'));
    const { detail, issues } = refused({ ...FULL_VIEW, mp: { p }, hc: 1, zz: 1 });
    expect(issues).toHaveLength(50);
    expect(issues!.at(-1)).toMatchObject({ field: 'mp.p[99]', received: '99' });
    expect(detail).toContain('62 faults; issues lists the first 50, and 12 more are left out');
  });
});

const many = (length: number, make: (i: number) => string): string => {
  const parts: string[] = [];
  for (let bytes = 0; bytes < length; bytes += parts.at(-1)!.length + 1) {
    parts.push(make(parts.length));
  }
  return parts.join();
};
const LAST = JSON.stringify(FULL_VIEW).slice(0, -1);
const cf = (json: string): string => `${LAST.replace('"cf":[]', `"cf":${json}`)}}`;
const nested = (open: string, close: string, length: number): string => {
  const levels = Math.floor(length / (open.length + close.length));
  return open.repeat(levels) + close.repeat(levels);
};

describe('a body of any kind takes no more than its length', () => {
  it.each<[string, (length: number) => string]>([
    ['unknown fields', (length) => `${LAST},${many(length, (i) => `"k${i}":1`)}}`],
    ['near names', (length) => `${LAST},${many(length, (i) => `"hc${i.toString(36)}":1`)}}`],
    ['wrong items', (length) => LAST.replace('"page-41"', many(length, String)) + '}'],
    ['one name again and again', (length) => `${LAST},${many(length, () => '"hc":1')}}`],
    ['nested lists', (length) => cf(nested('[', ']', length))],
    ['nested objects', (length) => `${LAST},"zz":${nested('{"a":', '}', length)}}`],
    ['lists never closed', (length) => cf('['.repeat(length))],
    ['objects in a list', (length) => cf(`[${many(length, () => '{}')}]`)],
    ['escapes', (length) => LAST.replace('Home', '\\n'.repeat(length / 2)) + '}'],
    ['lone surrogates', (length) => LAST.replace('Home', '\\ud800'.repeat(length / 6)) + '}'],
    ['line separators', (length) => LAST.replace('Home', '\u2028'.repeat(length)) + '}'],
    ['a string without its end', (length) => LAST.replace('Home', 'x'.repeat(length))],
    ['faults of spelling', (length) => `[${many(length, () => '{"a":1,}')}]`],
    ['lines', (length) => `${'\n'.repeat(length)},`],
  ])('full of %s', (_, make) => {
    expect(growth(readView, make)).toBeLessThan(6);
  });
});

describe('a body full of faults takes at most ten times what one of its length with one does', () => {
  const length = 16 * 1024;
  const inMp = (items: string): string => `${LAST.replace('"page-41"', items)}}`;
  const strings = many(length, (i) => `"a${i}"`);
  const names = many(length, (i) => `"k${i}":1`);
  const times = (text: string) => (): void => {
    for (let i = 0; i < 30; i++) readView(text);
  };

  it.each([
    ['unknown fields', `${LAST},${names}}`, `${LAST},"zz":{${names}}}`],
    ['near names', `{${many(length, (i) => `"hc${i.toString(36)}":1`)}}`, `{"zz":{${names}}}`],
    ['wrong items', inMp(many(length, String)), inMp(`${strings},1`)],
  ])('%s', (_, full, one) => {
    expect(cpuRatio(times(full), times(one), 10)).toBeLessThan(10);
  });

  it('and less where it is not JSON from its start on', () => {
    for (const full of [`[${many(length, () => '{"a":1,}')}]`, '/**/'.repeat(length / 4)]) {
      expect(cpuRatio(times(full), times(`[${strings}`), 1)).toBeLessThan(1);
    }
  });
});
