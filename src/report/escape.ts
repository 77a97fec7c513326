import { printable } from '../base/text.ts';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A stranger's text for a page, in content or in a quoted attribute. */
export const escapeHtml = (text: string): string =>
  printable(text).replace(/[&<>"']/g, (char) => ENTITIES[char]!);
