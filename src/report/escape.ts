import { clip, printable } from '../base/text.ts';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Far longer than what is shown of anything. */
const LENGTH_MAX = 200;
/** All but the joiners, which words of Persian and pictures of families need. */
const NO_JOINERS = /[^\u200c\u200d]+/g;

/**
 * A stranger's text for a page, in content or in a quoted attribute. Characters that reorder or
 * hide text stand there as `\u…`.
 */
export const escapeHtml = (text: string): string =>
  clip(text, LENGTH_MAX)
    .replace(NO_JOINERS, (part) => printable(part, Infinity))
    .replace(/[&<>"']/g, (char) => ENTITIES[char]!);
