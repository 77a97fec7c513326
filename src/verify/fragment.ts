import { isJson } from '../base/json.ts';
import { hasHeadWithin, LINE_BYTES_MAX, LINE_START } from '../view/line.ts';

const CLOSERS: Record<string, string> = { '{': '}', '[': ']' };
/** What can stand, cut off or not, after the last bracket or comma: a key, a value, or neither. */
const LAST_TOKENS = /^(?:"(?:[^"\\]|\\.)*":)?(?:"(?:[^"\\]|\\.)*(?:"|\\)?|[-+.\w]*)$/;

/**
 * Whether the line is the start of one, which a crash cut off and the next start ended with a
 * newline; a power cut can leave NULs where the rest should be. A start that another line follows
 * at once is none: there a whole line was lost.
 */
export function isFragment(line: string): boolean {
  const text = withoutNuls(line);
  // What a crash cut off was shorter than a line.
  if (line === '' || text.length > LINE_BYTES_MAX) return false;
  if (text.length <= LINE_START.length) return LINE_START.startsWith(text);
  if (!text.startsWith(LINE_START) || hasHeadWithin(text)) return false;
  const { end, closers } = lastStructure(text);
  if (closers === '' || !LAST_TOKENS.test(text.slice(end))) return false;
  return isJson(text.slice(0, end).replace(/,$/, '') + closers);
}

/** Without those at its end. A pattern for them would be tried at each NUL of a long line. */
function withoutNuls(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\0') end -= 1;
  return line.slice(0, end);
}

/** The end of the last bracket or comma outside strings, and what closes all that is open there. */
function lastStructure(text: string): { end: number; closers: string } {
  // Innermost last. One string of them, made longer and shorter, is copied for each bracket.
  const closers: string[] = [];
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
    else if (char in CLOSERS) closers.push(CLOSERS[char]!);
    else if (char === '}' || char === ']') closers.pop();
    else if (char !== ',') continue;
    if (!inString) end = at + 1;
  }
  return { end, closers: closers.toReversed().join('') };
}
