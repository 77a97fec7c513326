import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, onTestFinished } from 'vitest';
import { isHere, TOOLS } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';

const CHROMIUM = '/usr/bin/chromium';
const AXE = `${TOOLS}/axe-core/axe.min.js`;
const PLAYWRIGHT = `${TOOLS}/playwright-core`;

/** The part of Playwright that the tests use, because Playwright isn't a dependency. */
export interface Page {
  goto(url: string, options?: { referer?: string; waitUntil?: 'commit' }): Promise<unknown>;
  goBack(options?: { waitUntil?: 'commit' }): Promise<unknown>;
  /** Runs a text as a script, whatever the page's policy. */
  evaluate<T>(run: string | (() => T | Promise<T>)): Promise<T>;
  evaluate<T, A>(run: (argument: A) => T | Promise<T>, argument: A): Promise<T>;
  locator(selector: string, options?: { hasText?: string | RegExp }): Locator;
  title(): Promise<string>;
  close(): Promise<void>;
  screenshot(options: { path: string; fullPage?: boolean }): Promise<unknown>;
  readonly keyboard: { press(key: string): Promise<void> };
  on(
    event: 'request',
    listener: (request: { url(): string; postData(): string | null }) => void,
  ): void;
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): void;
  on(event: 'pageerror', listener: (error: Error) => void): void;
}

export interface Locator {
  locator(selector: string, options?: { hasText?: string | RegExp }): Locator;
  first(): Locator;
  waitFor(options?: { state?: 'visible' | 'hidden' | 'attached' }): Promise<void>;
  textContent(): Promise<string | null>;
  getAttribute(name: string): Promise<string | null>;
  count(): Promise<number>;
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  focus(): Promise<void>;
}

interface Browser {
  newContext(options: object): Promise<{ newPage(): Promise<Page>; close(): Promise<void> }>;
  close(): Promise<void>;
}

interface Playwright {
  chromium: { launch(options: object): Promise<Browser> };
}

export const hasChromium = (): boolean => isHere(CHROMIUM) && isHere(PLAYWRIGHT);

export const hasAxe = (): boolean => isHere(AXE);

/** Returns a line per accessibility rule that the page violates, with the elements. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(`${readFileSync(AXE, 'utf8')};0`);
  return page.evaluate<string[]>(
    `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
       nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join(' '))))`,
  );
}

/** Shared by the tests of a file, because a browser takes seconds to start. */
let browser: Promise<Browser> | undefined;
afterAll(async () => {
  await (await browser)?.close();
  browser = undefined;
});

/** A host name that leads to this machine, for pages that must not count as local. */
export const SITE_HOST = 'site.test';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--host-resolver-rules=MAP *.test 127.0.0.1',
  // The script of `viewlog snippet` sends nothing from an automated or headless browser.
  '--disable-blink-features=AutomationControlled',
  '--user-agent=Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0.0.0 Safari/537.36',
];

/** Opens an address in a browser without developer tools, because these prevent prerendering. */
export function openUnwatched(url: string): void {
  const { origin } = new URL(url);
  const own = [
    `--unsafely-treat-insecure-origin-as-secure=${origin}`,
    '--headless=new',
    `--user-data-dir=${tempDir()}`,
    '--remote-debugging-port=0',
  ];
  const options = { stdio: 'ignore', detached: true } as const;
  const child = spawn(CHROMIUM, [...ARGS, ...own, url], options);
  onTestFinished(async () => {
    process.kill(-child.pid!, 'SIGKILL');
    await once(child, 'close');
  });
}

/**
 * Opens an empty page that shares nothing with others, closed when the test ends.
 * @param options Playwright's options for a new context.
 */
export async function newPage(options: object = {}): Promise<Page> {
  const { chromium } = createRequire(import.meta.url)(PLAYWRIGHT) as Playwright;
  browser ??= chromium.launch({
    executablePath: CHROMIUM,
    args: [...ARGS, '--disable-background-networking'],
    // Playwright turns off the back/forward cache, which visitors' browsers use.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
  const context = await (await browser).newContext(options);
  onTestFinished(() => context.close());
  return context.newPage();
}
