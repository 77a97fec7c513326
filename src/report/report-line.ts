import { bytewise, textOfBytewise } from '../base/text.ts';
import { LineSchema } from '../view/line.ts';
import { patternOf } from '../view/pattern.ts';

// Lines and their texts have a character for each byte, because decoding UTF-8 would take half of a
// report's time, and most texts are never shown. The model decodes the ones that are shown.

const FIELDS = ['ts', 'p', 'url', 'pn', 'ubl', 'ref', 'orgreferer', 'content.templateId'] as const;

/** The fields of a view that a report reads; empty if absent or of another type. */
export type ViewLine = Readonly<Record<(typeof FIELDS)[number], string>>;

/**
 * Reads a view's line, a character for each byte.
 * @returns `undefined` if it is not a JSON object with `ts`, `p` and `url`.
 */
export function parseViewLine(line: string): ViewLine | undefined {
  const usual = usualViewLine(line);
  if (usual !== undefined) return usual;
  const parsed = parseLine(line);
  if (parsed === undefined) return undefined;
  const { templateId } = (parsed['content'] ?? {}) as { templateId?: unknown };
  if (!['ts', 'p', 'url'].every((field) => typeof parsed[field] === 'string')) return undefined;
  return viewLine((field) => (field === 'content.templateId' ? templateId : parsed[field]));
}

const PATTERN = patternOf(LineSchema, new Set<string>(FIELDS));
/** Matches nothing if no pattern can be made of the schema. */
const USUAL = new RegExp(`^${PATTERN?.source ?? '(?!)'}$`, 'u');
const PATHS = PATTERN?.groups.map(({ path }, i) => [path, 1 + i]) ?? [];
const GROUPS = Object.fromEntries(PATHS) as Record<keyof ViewLine, number>;

/**
 * Reads a usual line: spelt as the collector spells it, without escapes in the texts to read, and
 * with empty `cf` and `csf`. Takes a third of the time of `JSON.parse`.
 */
export function usualViewLine(line: string): ViewLine | undefined {
  const found = USUAL.exec(line);
  return found === null ? undefined : viewLine((field) => found[GROUPS[field]]);
}

function viewLine(valueOf: (field: keyof ViewLine) => unknown): ViewLine {
  return {
    ts: textOf(valueOf('ts')),
    p: textOf(valueOf('p')),
    url: textOf(valueOf('url')),
    pn: textOf(valueOf('pn')),
    ubl: textOf(valueOf('ubl')),
    ref: textOf(valueOf('ref')),
    orgreferer: textOf(valueOf('orgreferer')),
    'content.templateId': textOf(valueOf('content.templateId')),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const ESCAPE = String.raw`\u`;

/**
 * Parses a line and gives its texts a character for each byte; `undefined` if the line isn't an
 * object.
 */
function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    // An escape would put a character among the bytes.
    const value: unknown = line.includes(ESCAPE)
      ? JSON.parse(textOfBytewise(line), (_, item: unknown) =>
          typeof item === 'string' ? bytewise(Buffer.from(item)) : item,
        )
      : JSON.parse(line);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
