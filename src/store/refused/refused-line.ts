import { LIMITS } from '../../base/limits.ts';
import { dayOfId, type Stamp } from '../stamp.ts';
import type { RefusedView } from '../store.ts';

/**
 * Returns a refused view's line, newline included. `view` is the request's own text, so that
 * parsing loses nothing. If it is nested too deep for the usual readers (jq stops at 256 levels,
 * Python at its recursion limit), it is stored as a JSON string.
 */
export function refusedLine(
  { ts, id }: Stamp,
  { code, issues, origin, text }: RefusedView,
): string {
  const head = JSON.stringify({ ts, id, code, issues, origin });
  const view = isNestedTooDeep(text) ? JSON.stringify(text) : onOneLine(text);
  // Some readers end a line at U+2028 or U+2029. JSON has them only in strings, which allow
  // escapes.
  return `${head.slice(0, -1)},"view":${view}}\n`.replace(LINE_SEPARATORS, escaped);
}

const VIEW = ',"view":';

/** A refused view, read back. */
export interface StoredRefusal {
  readonly id: string;
  /** The UTC day of `id`, `YYYY-MM-DD`. */
  readonly day: string;
  readonly code: string;
  /** The request's `Origin`, if it had one. */
  readonly origin: string | undefined;
  /** The text that was sent, without its line breaks. */
  readonly text: string;
}

/**
 * Reads a line of `refusedLine`; returns `undefined` for any other line. Cuts the view's text out
 * instead of parsing it, because parsing could lose the fault for which the view was refused.
 */
export function readRefusedLine(line: string): StoredRefusal | undefined {
  // The first match is right: the texts before it are viewlog's own JSON, in which a backslash
  // precedes each quote inside a string.
  const at = line.indexOf(VIEW);
  if (at < 0 || !line.endsWith('}')) return undefined;
  const sent = line.slice(at + VIEW.length, -1);
  try {
    const head = JSON.parse(`${line.slice(0, at)}}`) as Record<string, unknown>;
    const { id, code, origin } = head;
    const view: unknown = JSON.parse(sent);
    const day = typeof id === 'string' ? dayOfId(id) : undefined;
    if (day === undefined || typeof code !== 'string' || !/^[a-z-]+$/.test(code)) return undefined;
    const from = typeof origin === 'string' ? origin : undefined;
    return {
      id: id as string,
      day,
      code,
      origin: from,
      text: typeof view === 'string' ? view : sent,
    };
  } catch {
    return undefined;
  }
}

const LINE_SEPARATORS = /[\u2028\u2029]/g;

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16)}`;

/** A line break in JSON is between tokens, because strings contain none. */
const onOneLine = (text: string): string => text.replace(/^\ufeff/, '').replace(/[\r\n]/g, ' ');

/** A JSON string or a bracket outside of strings. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/g;

/** Counts levels as for a view's fields: without the view's own braces. */
function isNestedTooDeep(text: string): boolean {
  let depth = -1;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > LIMITS.nestingMax) return true;
  }
  return false;
}
