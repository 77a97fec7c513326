import { unpacked } from '../../base/packed.ts';

/** The texts of `templates/` by name; put here by build.mjs. */
declare const TEMPLATES: string;

/**
 * A file of `templates/` with a value in the place of each `<<name>>`. Where that is all that a line
 * has, an empty value takes the line along.
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

/** A text as YAML has it wherever a value may stand: in single quotes nothing else is special. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
