import { unpacked } from '../../base/built.ts';

/** The texts of `templates/` by name, which build.mjs puts here. */
declare const TEMPLATES: string;

type Values = Readonly<Record<string, string | number | readonly string[]>>;

/**
 * Returns a file of `templates/` with each `<<name>>` replaced by its value. A line with a list is
 * repeated for each item. A line that begins with `<<?name>>` is left out if that value is empty.
 */
export function fill(name: string, values: Values): string {
  if (typeof TEMPLATES === 'undefined') return 'Only the built viewlog has its examples.';
  const lines = unpacked(TEMPLATES)[name]!.trimEnd().split('\n');
  return lines.flatMap((line) => filledLines(line, values)).join('\n');
}

function filledLines(line: string, values: Values): string[] {
  const [, condition, text = ''] = /^(?:<<\?(\w+)>>)?(.*)$/.exec(line)!;
  if (condition !== undefined && values[condition] === '') return [];
  const names = Array.from(text.matchAll(/<<(\w+)>>/g), ([, name]) => name!);
  const list = names.map((name) => values[name]!).find((value) => typeof value === 'object');
  return (list ?? ['']).map((item) =>
    text.replace(/<<(\w+)>>/g, (_, name: string) => {
      const value = values[name]!;
      return typeof value === 'object' ? item : String(value);
    }),
  );
}
