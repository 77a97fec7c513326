import { unpacked } from '../../base/built.ts';

/** The texts of `templates/` by name, which build.mjs puts here. */
declare const TEMPLATES: string;

/**
 * Returns a file of `templates/` with its `<<name>>`s replaced by values. A line that has only an
 * empty value is left out.
 */
export function fill(name: string, values: Readonly<Record<string, string | number>>): string {
  if (typeof TEMPLATES === 'undefined') return 'Only the built viewlog has its examples.';
  const text = unpacked(TEMPLATES)[name]!;
  const filled = text.replace(/^<<(\w+)>>\n|<<(\w+)>>/gm, (_, line?: string, part?: string) => {
    const value = String(values[line ?? part!]);
    return line === undefined || value === '' ? value : `${value}\n`;
  });
  return filled.trimEnd();
}

/** Quotes a text for YAML: in single quotes, only the single quote is special. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
