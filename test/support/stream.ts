import type { StreamMessage } from '../../src/archive/message.ts';
import { storedLines } from './stored-lines.ts';

/** A stream as an array: messages of lines, numbered from 1. */
export const messagesOf = (lines: readonly string[], first = 1): StreamMessage[] =>
  lines.map((line, i) => ({ sequence: first + i, payload: Buffer.from(line) }));

/** Lines of several days, in turn. */
export function linesOfDays(days: readonly string[], each: number): string[] {
  const all = days.map((day) => storedLines(day, each));
  return Array.from({ length: each }, (_, i) => all.map((lines) => lines[i]!)).flat();
}
