import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseLine, parseViewLine, usualViewLine } from '../../src/report/report-line.ts';
import { storedLines } from '../support/stored-lines.ts';
import { anyView, FULL_VIEW, MINIMAL_VIEW } from '../support/views.ts';

/** A character for each byte. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');

const TS = '2026-03-01T00:00:00.000Z';
const lineWith = (view: object): string => bytes(JSON.stringify({ ts: TS, id: 'x', ...view }));

it('a line with every field is read the fast way, and so is one with those required', () => {
  const [full] = storedLines('2026-03-01', 1);
  expect(usualViewLine(bytes(full!))).toStrictEqual({
    ts: TS,
    p: FULL_VIEW.p,
    pn: bytes(FULL_VIEW.pn),
    url: FULL_VIEW.url,
    ubl: FULL_VIEW.ubl,
    ref: FULL_VIEW.ref,
    orgreferer: FULL_VIEW.orgreferer,
    template: FULL_VIEW.content.templateId,
  });
  expect(usualViewLine(lineWith(MINIMAL_VIEW))).toMatchObject({ ts: TS, p: MINIMAL_VIEW.p });
});

it('the fast way reads what parsing reads', () => {
  // Mostly such as need no escape.
  const text = fc.string({
    unit: fc.constantFrom(...Array.from('abcdefghijklmnopqrstuvwxyz/-åé家🎈"\\\n\u2028')),
  });
  const absent = Object.fromEntries(Object.keys(FULL_VIEW).map((key) => [key, undefined]));
  let usual = 0;
  fc.assert(
    fc.property(anyView({ text, counter: fc.integer(), anyArray: fc.constant([]) }), (view) => {
      const line = lineWith({ ...absent, ...view });
      const { ts, pn, p, ubl, ref, url, content, orgreferer } = parseLine(line)!;
      const template = (content as { templateId?: string } | undefined)?.templateId;
      const parsed = { ts, pn, p, ubl, ref, url, orgreferer, template };
      expect(parseViewLine(line)).toEqual(parsed);
      if (usualViewLine(line) !== undefined) usual += 1;
    }),
    { numRuns: 200 },
  );
  // Or it has shown nothing.
  expect(usual).toBeGreaterThan(20);
});
