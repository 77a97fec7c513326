import { bytewise, textOfBytewise } from '../base/bytes.ts';
import { clip } from '../base/text.ts';
import { LineSchema } from '../view/line.ts';
import { patternOf } from '../view/pattern.ts';

// Lines are read with a character for each byte, which halves the time that decoding and parsing
// take. A text is decoded when it is kept, which most are not.

/** What a report reads of a view's line; any of it may be missing or of another type. */
export interface ViewLine {
  readonly ts: unknown;
  readonly p: unknown;
  readonly pn: unknown;
  readonly url: unknown;
  readonly ubl: unknown;
  readonly ref: unknown;
  readonly orgreferer: unknown;
  readonly template: unknown;
}

const WANTED = ['ts', 'p', 'pn', 'url', 'ubl', 'ref', 'orgreferer', 'content.templateId'];

/**
 * A view's line as the collector writes it, where no text that is wanted has an escape and `cf` and
 * `csf` are empty, as in most. Three times as fast as JSON.parse, and as strict.
 * @returns `undefined` for any other line.
 */
export const usualViewLine: (text: string) => ViewLine | undefined = usualLines();

function usualLines(): typeof usualViewLine {
  const pattern = patternOf(LineSchema, { captured: new Set(WANTED), isChecked: false });
  const paths = pattern?.groups.map(({ path }) => path) ?? [];
  const [ts, p, pn, url, ubl, ref, orgreferer, template] = WANTED.map(
    (path) => 1 + paths.indexOf(path),
  ) as [number, number, number, number, number, number, number, number];
  if (pattern === undefined || paths.length < WANTED.length) return () => undefined;
  const whole = new RegExp(`^${pattern.source}$`, 'u');
  return (text) => {
    const usual = whole.exec(text);
    return usual === null
      ? undefined
      : {
          ts: usual[ts],
          p: usual[p],
          pn: usual[pn],
          url: usual[url],
          ubl: usual[ubl],
          ref: usual[ref],
          orgreferer: usual[orgreferer],
          template: usual[template],
        };
  };
}

/**
 * A view's line whose characters are bytes; its strings are made of bytes too.
 * @returns `undefined` where it is no JSON object.
 */
export function parseViewLine(text: string): ViewLine | undefined {
  const usual = usualViewLine(text);
  if (usual !== undefined) return usual;
  const line = parseLine(text);
  if (line === undefined) return undefined;
  const { ts, pn, p, ubl, ref, url, content, orgreferer } = line;
  const { templateId: template } = (content ?? {}) as { templateId?: unknown };
  return { ts, pn, p, ubl, ref, url, template, orgreferer };
}

/** Longer texts are one where they start alike. */
const TEXT_LENGTH_MAX = 200;

/**
 * The object of a line whose characters are bytes; its strings are made of bytes too.
 * @returns `undefined` where there is none.
 */
export function parseLine(text: string): Record<string, unknown> | undefined {
  try {
    // An escape would put a character among the bytes.
    const value: unknown = text.includes('\\u')
      ? JSON.parse(textOfBytewise(text), (_, item) =>
          typeof item === 'string' ? bytewise(Buffer.from(item)) : item,
        )
      : JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The text of a string made of bytes, short enough to be kept a hundred thousand times.
 * @param change what is done to the text before it is cut off.
 */
export const kept = (bytes: string, change: (text: string) => string = (text) => text): string =>
  clip(change(textOfBytewise(short(bytes))), TEXT_LENGTH_MAX);

/** Four bytes are the longest character. */
const BYTES_MAX = 4 * TEXT_LENGTH_MAX;

/** What a string made of bytes is told apart by. */
export const short = (bytes: string): string =>
  bytes.length <= BYTES_MAX
    ? bytes
    : bytewise(Buffer.from(textOfBytewise(bytes).slice(0, TEXT_LENGTH_MAX + 1)));
