import { unpacked } from '../../base/built.ts';
import type { Installation } from './installation.ts';
import { type Value, VALUES } from './values.ts';

/** The texts of `templates/` by name, which build.mjs puts here. */
declare const TEMPLATES: string;

/**
 * Returns a file of `templates/` with each `<<name>>` replaced by its value, or by the template of
 * that name. A line with a list is repeated for each item. A line that begins with `<<?name>>` is
 * left out if that value is empty.
 * @throws {Fatal} exit 64 if there is no such file for these settings.
 */
export function fill(example: string, installation: Installation, template = example): string {
  if (typeof TEMPLATES === 'undefined') return 'Only the built viewlog has its examples.';
  const texts = unpacked(TEMPLATES);
  const valueOf = (name: string): Value =>
    name in texts ? fill(example, installation, name) : VALUES[name]!(installation, example);
  const filled = (line: string): string[] => {
    const [mark, condition, name = ''] = /<<(\??)(\w+)>>/.exec(line) ?? [];
    if (mark === undefined) return [line];
    const value = valueOf(name);
    if (condition === '?') return value === '' ? [] : filled(line.replace(mark, ''));
    return [value].flat().flatMap((item) => filled(line.replace(mark, () => `${item}`)));
  };
  return texts[template]!.trimEnd().split('\n').flatMap(filled).join('\n');
}
