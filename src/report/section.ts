import { escapeHtml } from './escape.ts';

interface SectionOptions {
  /** Under the title, smaller. */
  readonly remark?: string;
  readonly kind?: string;
}

/** A part of the page under a title, and an address to jump to. */
export function section(
  title: string,
  content: string,
  { remark = '', kind = '' }: SectionOptions = {},
): string {
  const id = title.toLowerCase().replaceAll(' ', '-');
  const small = remark && `<small>${escapeHtml(remark)}</small>`;
  return `<section id="${id}" class="${kind}"><h2>${title}${small}</h2>${content}</section>`;
}

/** A line of links to the sections that a page has. */
export function linksTo(page: string): string {
  const links = Array.from(
    // Text of strangers has no tags.
    page.matchAll(/<section id="([a-z-]+)" class="[a-z]*"><h2>([^<]+)/g),
    ([, id, title]) => `<a href="#${id}">${title}</a>`,
  );
  return links.length < 2 ? '' : `<nav aria-label="Sections">${links.join(' ')}</nav>`;
}
