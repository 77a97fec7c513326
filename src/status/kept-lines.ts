import { Buffer } from 'node:buffer';
import { PROJECT_ID } from '../view/project-id.ts';
import { fieldsOf, readHead } from '../view/line.ts';
import { type Issue, type RefusalCode, REFUSALS, rowOf } from '../view/refusal.ts';
import { parseViewLine } from '../report/report-line.ts';
import { readRefusedLine } from '../store/refused/refused-line.ts';
import type { Counts } from './counts.ts';

// What lines of view files and of files of refused views tell the counts. A line that a crash cut
// off, or that somebody else wrote, tells nothing.

/** Counts a line. `at` gives the time that it counts for; none where it is of no use. */
export type CountLine = (
  line: string,
  counts: Counts,
  at: (ts: string) => number | undefined,
) => void;

/** @param line of which each character is a byte. */
export const countViewLine: CountLine = (line, counts, at) => {
  const ts = readHead(line)?.ts;
  const atMs = ts === undefined ? undefined : at(ts);
  if (atMs === undefined) return;
  const view = parseViewLine(line);
  if (typeof view?.url !== 'string' || typeof view.p !== 'string') return;
  const fields = (): Uint8Array => Buffer.from(fieldsOf(line), 'latin1');
  counts.acceptedEarlier(view.p, atMs, fields);
};

export const countRefusedLine: CountLine = (line, counts, at) => {
  const kept = readRefusedLine(line);
  if (kept === undefined || typeof kept.ts !== 'string' || !isCode(kept.code)) return;
  const atMs = at(kept.ts);
  if (atMs === undefined) return;
  const { code, issues, origin, text } = kept;
  const project = projectOf(text);
  const detail = `${rowOf(code).title}.`;
  const refusal = { code, detail, ...(project !== undefined && { project }) };
  counts.refusedEarlier({ ...refusal, issues: issuesOf(issues) }, origin, text, atMs);
};

const isCode = (code: unknown): code is RefusalCode =>
  typeof code === 'string' && Object.hasOwn(REFUSALS, code);

const issuesOf = (issues: unknown): Issue[] =>
  (Array.isArray(issues) ? issues : []).filter((issue) => typeof issue?.message === 'string');

function projectOf(text: string): string | undefined {
  const { p } = (JSON.parse(text) ?? {}) as { p?: unknown };
  return typeof p === 'string' && PROJECT_ID.test(p) ? p : undefined;
}
