import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

/** The admin token of the test gateways. */
export const TOKEN = 'browser-test-token';

/** A console page and a record of the problems that must not occur on it. */
export interface OpenConsole {
  readonly page: Page;
  /** Requests to other hosts, and errors from scripts and the browser's console, including policy violations. */
  readonly troubles: readonly string[];
  close(): Promise<void>;
}

/** Options for opening a console page. */
export interface OpenOptions {
  /** True if the page is opened in a new tab. By default, it is opened in the context's first tab. */
  readonly newTab?: boolean;
  /** Matches the browser's console messages about refusals that the test expects. */
  readonly tolerate?: RegExp;
}

/** Options for a browser context. */
export interface ContextOptions extends BrowserContextOptions {
  /** The admin token that the browser has at first. The default is the test gateways' token. If null, it has none. */
  readonly token?: string | null;
  /** True if the test can advance the pages' clock. The clock also runs on its own. */
  readonly ownClock?: boolean;
}

/** Options for a browser that learns the token only when a page or Playwright's own request is challenged. */
export const challenged = (token = TOKEN): ContextOptions => ({
  token: null,
  httpCredentials: { username: 'operator', password: token },
});

/**
 * Opens a browser context that knows the token of the gateway at `adminUrl`. The browser learns the token from a URL,
 * as it would from a login dialog. The page that requests this URL is reused for the first visit. If Playwright
 * responded to the authentication challenges, it would intercept every request, which takes a quarter of the CPU time
 * of a visit.
 */
export async function openContext(
  browser: Browser,
  adminUrl: string,
  { token = TOKEN, ownClock = false, ...options }: ContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  if (token !== null) {
    const page = await context.newPage();
    await page.goto(`${adminUrl.replace('//', `//operator:${token}@`)}/console/icon.svg`);
  }
  if (ownClock) {
    // Requests keep their real time limits, because advancing the clock would end all requests in progress.
    await context.addInitScript('globalThis.realTimeout = AbortSignal.timeout');
    await context.clock.install();
    await context.addInitScript('AbortSignal.timeout = realTimeout');
  }
  return context;
}

/**
 * Advances a page's clock until `happened` resolves, so that the test does not have to wait for the page to fetch its
 * data again. The page's context needs `ownClock`.
 */
export async function soon(page: Page, happened: Promise<unknown>): Promise<void> {
  const ended = happened.then(() => true);
  for (let done = false; !done; done = await Promise.race([ended, wait(50, false)]))
    await page.clock.fastForward(30_000);
}

/** Opens a page of the console and records its errors. */
export async function openConsole(
  context: BrowserContext,
  adminUrl: string,
  hash = '#/traffic',
  { newTab = false, tolerate }: OpenOptions = {},
): Promise<OpenConsole> {
  const page = (newTab ? undefined : context.pages()[0]) ?? (await context.newPage());
  // This limit is reached only if a test waits for something that never happens.
  page.setDefaultTimeout(120_000);
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const isLogged = message.type() === 'error' || message.type() === 'warning';
    if (isLogged && tolerate?.test(message.text()) !== true) troubles.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (hostname !== '127.0.0.1' && protocol !== 'data:') troubles.push(`request elsewhere: ${request.url()}`);
  });
  await page.goto(`${adminUrl}/console/${hash}`);
  return { page, troubles, close: () => page.close() };
}
