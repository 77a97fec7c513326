import { bytewise, textOfBytewise } from '../base/text.ts';
import { LineSchema } from '../view/line.ts';
import { patternOf } from '../view/pattern.ts';

// Lines and their texts have a character for each byte, because decoding UTF-8 would take half of a
// report's time, and most texts are never shown. The model decodes the ones that are shown.

const FIELDS = ['ts', 'p', 'url', 'pn', 'ubl', 'ref', 'orgreferer', 'content.templateId'] as const;
type Field = (typeof FIELDS)[number];

/**
 * The fields of a view that a report reads; empty if absent or of another type. An empty
 * `orgreferer` says that the visit began without a referrer, so an absent one is `undefined`.
 */
export type ViewLine = Readonly<Record<Exclude<Field, 'orgreferer'>, string>> & {
  readonly orgreferer: string | undefined;
};

/**
 * Reads a view's line, a character for each byte.
 * @returns `undefined` if it isn't a JSON object with `ts`, `p` and `url`.
 */
export const parseViewLine = (line: string): ViewLine | undefined =>
  usualViewLine(line) ?? anyViewLine(line);

/** Matches nothing if no pattern can be made of the schema. */
const { source, groups } = patternOf(LineSchema, new Set<string>(FIELDS)) ?? {
  source: '(?!)',
  groups: [],
};
const USUAL = new RegExp(`^${source}$`, 'u');
const GROUPS = new Map(groups.map(({ path }, i) => [path, 1 + i]));

/**
 * Reads a usual line: written as the collector writes it, without escapes in the texts to read, and
 * with empty `cf` and `csf`. Takes a third of the time of `JSON.parse`.
 */
export function usualViewLine(line: string): ViewLine | undefined {
  const found = USUAL.exec(line);
  return found === null ? undefined : viewLine((field) => found[GROUPS.get(field)!]);
}

function anyViewLine(line: string): ViewLine | undefined {
  // JSON.parse would turn an escape into a character among the bytes.
  const hasEscape = line.includes(String.raw`\u`);
  try {
    const view = JSON.parse(hasEscape ? textOfBytewise(line) : line) as Record<string, unknown>;
    const { templateId } = (view['content'] ?? {}) as { templateId?: unknown };
    if (!['ts', 'p', 'url'].every((field) => typeof view[field] === 'string')) return undefined;
    return viewLine((field) => {
      const value = field === 'content.templateId' ? templateId : view[field];
      if (typeof value !== 'string') return undefined;
      return hasEscape ? bytewise(Buffer.from(value)) : value;
    });
  } catch {
    return undefined; // not JSON, or null
  }
}

// Listed one by one, because a loop takes twice the time.
const viewLine = (fieldText: (field: Field) => string | undefined): ViewLine => ({
  ts: fieldText('ts') ?? '',
  p: fieldText('p') ?? '',
  url: fieldText('url') ?? '',
  pn: fieldText('pn') ?? '',
  ubl: fieldText('ubl') ?? '',
  ref: fieldText('ref') ?? '',
  orgreferer: fieldText('orgreferer'),
  'content.templateId': fieldText('content.templateId') ?? '',
});
