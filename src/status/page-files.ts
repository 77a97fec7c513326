import { unpacked } from '../base/packed.ts';

/** What is in `page/`, put here by build.mjs, so that viewlog stays one file. */
declare const STATUS_PAGE: string;

type Page = Readonly<Record<'css' | 'js', string>>;

const UNBUILT: Page = { css: '', js: '' };

let page: Page | undefined;

/** Unpacked when it is asked for first. */
export const pageFiles = (): Page =>
  (page ??= typeof STATUS_PAGE === 'undefined' ? UNBUILT : unpacked(STATUS_PAGE));
