import { LIMITS } from '../../base/limits.ts';
import type { Stamp } from '../stamp.ts';
import type { RefusedView } from '../store.ts';

/**
 * A refused view's line, newline included. `view` is the request's own text, so that nothing of it
 * is lost in parsing; nested too deep for the usual readers (jq stops at 256 levels, Python at its
 * recursion limit) it is a string that holds that text.
 */
export function refusedLine(
  { ts, id }: Stamp,
  { code, issues, origin, text }: RefusedView,
): string {
  const head = JSON.stringify({ ts, id, code, issues, origin });
  const view = isNestedTooDeep(text) ? JSON.stringify(text) : onOneLine(text);
  // Readers that end a line at U+2028 exist; JSON allows it in a string, and so its escape.
  return `${head.slice(0, -1)},"view":${view}}\n`.replace(LINE_SEPARATORS, escaped);
}

const VIEW = ',"view":';

/** A refused view as it is read back. */
export interface KeptView {
  readonly id: string;
  /** When it was refused and why, as far as the line tells. */
  readonly ts: unknown;
  readonly code: unknown;
  readonly issues: unknown;
  readonly origin: string | undefined;
  /** What was sent, its line breaks aside. */
  readonly text: string;
}

/**
 * Reads what `refusedLine` wrote; `undefined` for any other line. The view's text is cut out, not
 * parsed and written anew: what parsing loses may be what was wrong with it.
 */
export function readRefusedLine(line: string): KeptView | undefined {
  // The first one: before it there are only texts of viewlog's own JSON, in which a quote has a
  // backslash in front.
  const at = line.indexOf(VIEW);
  if (at < 0 || !line.endsWith('}')) return undefined;
  const sent = line.slice(at + VIEW.length, -1);
  try {
    const head = JSON.parse(`${line.slice(0, at)}}`) as Record<string, unknown>;
    const { ts, id, code, issues, origin } = head;
    const view: unknown = JSON.parse(sent);
    if (typeof id !== 'string' || !/^[0-9a-f-]{36}$/.test(id)) return undefined;
    const text = typeof view === 'string' ? view : sent;
    const from = typeof origin === 'string' ? origin : undefined;
    return { ts, id, code, issues, origin: from, text };
  } catch {
    return undefined;
  }
}

const LINE_SEPARATORS = /[\u2028\u2029]/g;

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16)}`;

/** A line break in JSON stands between tokens: strings hold none. */
const onOneLine = (text: string): string => text.replace(/^\ufeff/, '').replace(/[\r\n]/g, ' ');

/** A string of JSON, or a bracket outside of strings. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/g;

/** As for a view's fields: its own braces are not counted. */
function isNestedTooDeep(text: string): boolean {
  let depth = -1;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > LIMITS.nestingMax) return true;
  }
  return false;
}
