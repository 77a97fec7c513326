import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
export const MANUAL = 'src/manual';

/** The manual's pages, as paths from the root. */
export const PAGES = readdirSync(join(ROOT, MANUAL))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `${MANUAL}/${name}`);

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The code blocks of a document: language and text of each. */
export const blocksOf = (markdown: string): { language: string; text: string }[] =>
  Array.from(markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms), ([, language, text]) => ({
    language: language!,
    text: text!,
  }));
