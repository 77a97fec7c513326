import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isRefusal } from '../../src/view/refusal.ts';
import { createStamper } from '../../src/store/stamp.ts';
import {
  lineFieldsOf,
  HEAD_BYTES,
  LINE_START,
  lineBytesOf,
  readHead,
} from '../../src/view/line.ts';
import { readView } from '../../src/view/read-view.ts';
import { anyView, lineOf } from '../support/views.ts';

const stamps = fc
  .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z') })
  .map((date) => createStamper(() => +date)());

/** The stored fields of any view. */
const anyFields = anyView().map((view) => {
  const read = readView(JSON.stringify(view));
  if (isRefusal(read)) throw new Error(read.detail);
  return Buffer.from(read.fields).toString();
});

it('the readers of a line recognise any stored line and return its parts', () => {
  fc.assert(
    fc.property(stamps, anyFields, ({ ts, id }, fields) => {
      const line = lineOf(ts, id, fields);
      expect(line.endsWith('}\n')).toBe(true);
      const text = line.slice(0, -1);
      expect(JSON.parse(text)).toStrictEqual({ ts, id, ...(JSON.parse(fields) as object) });
      expect(readHead(text)).toStrictEqual({ ts, id });
      expect(readHead(text.slice(0, HEAD_BYTES))).toStrictEqual({ ts, id });
      expect(readHead(text.slice(0, HEAD_BYTES - 1))).toBeUndefined();
      expect(lineFieldsOf(text)).toBe(fields);
      expect(text.startsWith(LINE_START)).toBe(true);
      // viewlog computes the length before it makes the line.
      expect(Buffer.byteLength(line)).toBe(lineBytesOf(Buffer.from(fields)));
    }),
  );
});
