import { isJson } from '../base/json.ts';
import { hasHeadWithin, LARGEST_MAX_VIEW_BYTES, LINE_START } from '../view/line.ts';

/**
 * What can stand, cut off or not, after the last bracket or comma: a key, a value, or neither.
 * Strings are empty here: a pattern that goes through long ones is more than Bun's can do.
 */
const LAST_TOKENS = /^(?:"":)?(?:""?|[-+.\w]*)$/;

/**
 * Whether the line is the start of one, which a crash cut off and the next start ended with a
 * newline; a power cut can leave NULs where the rest should be, be it only the newline. A start
 * that another line follows at once is none: there a whole line was lost.
 */
export function isFragment(line: string): boolean {
  const text = withoutNuls(line);
  // What a crash cut off was shorter than a line.
  if (line === '' || text.length > LARGEST_MAX_VIEW_BYTES) return false;
  if (text.length <= LINE_START.length) return LINE_START.startsWith(text);
  if (!text.startsWith(LINE_START) || hasHeadWithin(text)) return false;
  const { end, closers, rest } = lastStructure(text);
  // Cut off right before its newline; without NULs it would be a line.
  if (closers === '') return text !== line && isJson(text);
  if (!LAST_TOKENS.test(rest)) return false;
  return isJson(text.slice(0, end).replace(/,$/, '') + closers);
}

/** Without those at its end. A pattern for them would be tried at each NUL of a long line. */
function withoutNuls(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\0') end -= 1;
  return line.slice(0, end);
}

/**
 * The end of the last bracket or comma outside strings, what closes all that is open there, and
 * what follows, with nothing in its strings.
 */
function lastStructure(text: string): { end: number; closers: string; rest: string } {
  // Innermost last. One string of them, made longer and shorter, is copied for each bracket.
  const closers: string[] = [];
  let end = 0;
  let rest = '';
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (inString && char === '\\') at++;
    if (inString && char !== '"') continue;
    if (char === '"') inString = !inString;
    if (char === '{' || char === '[') closers.push(char === '{' ? '}' : ']');
    else if (char === '}' || char === ']') closers.pop();
    else if (char !== ',') {
      rest += char;
      continue;
    }
    end = at + 1;
    rest = '';
  }
  return { end, closers: closers.toReversed().join(''), rest };
}
