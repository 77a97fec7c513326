interface Page {
  readonly html: string;
  readonly css: string;
  readonly js: string;
}

/** What is in `page/`, put here as text by build.mjs, so that viewlog stays one file. */
declare const STATUS_PAGE: Page;

const UNBUILT: Page = { html: 'Only the built viewlog has its status page.', css: '', js: '' };

export const PAGE: Page = typeof STATUS_PAGE === 'undefined' ? UNBUILT : STATUS_PAGE;
