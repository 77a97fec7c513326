import { MiB } from '../base/size.ts';
import { isJson } from '../base/json.ts';

const START = '{"ts":"';
/** The largest `--max-view`: what a crash cut off was shorter. */
const LENGTH_MAX = MiB;
const CLOSERS: Record<string, string> = { '{': '}', '[': ']' };
/** What can stand, cut off or not, after the last bracket or comma: a key, a value, or neither. */
const LAST_TOKENS = /^(?:"(?:[^"\\]|\\.)*":)?(?:"(?:[^"\\]|\\.)*(?:"|\\)?|[-+.\w]*)$/;
/** Of another line, whole or not: there was no newline between. */
const ANOTHER_HEAD = /.\{"ts":"[^"]{24}","id":"[0-9a-f-]{36}",/;

/**
 * Whether the line is the start of one, which a crash cut off and the next start ended with a
 * newline; a power cut can leave NULs where the rest should be. A start that another line follows
 * at once is none: there a whole line was lost.
 */
export function isFragment(line: string): boolean {
  const text = line.replace(/\0+$/, '');
  if (line === '' || text.length > LENGTH_MAX) return false;
  if (text.length <= START.length) return START.startsWith(text);
  if (!text.startsWith(START) || ANOTHER_HEAD.test(text)) return false;
  const { end, closers } = lastStructure(text);
  if (closers === '' || !LAST_TOKENS.test(text.slice(end))) return false;
  return isJson(text.slice(0, end).replace(/,$/, '') + closers);
}

/** The end of the last bracket or comma outside strings, and what closes all that is open there. */
function lastStructure(text: string): { end: number; closers: string } {
  let closers = '';
  let end = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (inString) {
      if (char === '\\') at++;
      else if (char === '"') inString = false;
      continue;
    }
    if (char === '"') inString = true;
    else if (char in CLOSERS) closers = CLOSERS[char]! + closers;
    else if (char === '}' || char === ']') closers = closers.slice(1);
    else if (char !== ',') continue;
    if (!inString) end = at + 1;
  }
  return { end, closers };
}
