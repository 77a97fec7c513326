import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseViewLine, usualViewLine } from '../../src/report/report-line.ts';
import { storedLines } from '../support/stored-lines.ts';
import { anyView, FULL_VIEW, MINIMAL_VIEW } from '../support/views.ts';
import { bytes } from './report-on.ts';

const TS = '2026-03-01T00:00:00.000Z';
const lineWith = (view: object): string => bytes(JSON.stringify({ ts: TS, id: 'x', ...view }));

it('the pattern for lines reads a line with every field and a line with the required fields', () => {
  const [full] = storedLines('2026-03-01', 1);
  const { pn, p, content } = FULL_VIEW;
  const expected = { ts: TS, p, pn: bytes(pn), 'content.templateId': content.templateId };
  expect(usualViewLine(bytes(full!))).toMatchObject(expected);
  expect(usualViewLine(lineWith(MINIMAL_VIEW))).toMatchObject({ p: MINIMAL_VIEW.p, ubl: '' });
});

it('the pattern and the parser for lines read the same fields, with and without escapes', () => {
  // Most texts have no escapes.
  const text = fc.string({
    unit: fc.constantFrom(...Array.from('abcdefghijklmnopqrstuvwxyz/-åé家🎈"\\\n\u2028')),
  });
  let usual = 0;
  fc.assert(
    fc.property(anyView({ text, counter: fc.integer(), anyArray: fc.constant([]) }), (view) => {
      const line = lineWith(view);
      const spaced = line.replace('{', '{ ');
      expect(usualViewLine(spaced)).toBeUndefined();
      expect(parseViewLine(line)).toStrictEqual(parseViewLine(spaced));
      const escaped = line.replaceAll(bytes('\u2028'), String.raw`\u2028`);
      expect(parseViewLine(escaped)).toStrictEqual(parseViewLine(line));
      const { pn = '' } = view as { pn?: string };
      expect(parseViewLine(line)?.pn).toBe(bytes(pn));
      if (usualViewLine(line) !== undefined) usual += 1;
    }),
    { numRuns: 200 },
  );
  // With fewer usual lines, the test would have compared too little.
  expect(usual).toBeGreaterThan(20);
});
