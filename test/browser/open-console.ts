import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** The token of the test gateways. */
export const TOKEN = 'browser-test-token';

/** A console page and a record of the problems that must not occur on it. */
export interface OpenConsole {
  readonly page: Page;
  /** Errors from scripts and from the browser's console, including policy violations, and requests to other hosts. */
  readonly troubles: readonly string[];
  close(): Promise<void>;
}

/** Options for opening a console page. */
export interface OpenOptions extends BrowserContextOptions {
  /**
   * The token that the browser sends when it is challenged. The default is the tests' token. If null, no token is sent.
   */
  readonly token?: string | null;
  /** Matches the browser's console messages about refusals that the test expects. */
  readonly tolerate?: RegExp;
  /** True if the test advances the page's clock. The clock also runs on its own. */
  readonly ownClock?: boolean;
}

/** Opens a page of the console and records its errors. */
export async function openConsole(
  browser: Browser,
  adminUrl: string,
  hash = '#/traffic',
  { token = TOKEN, tolerate, ownClock = false, ...options }: OpenOptions = {},
): Promise<OpenConsole> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...(token !== null && { httpCredentials: { username: 'operator', password: token } }),
    ...options,
  });
  const page = await context.newPage();
  // This limit is reached only if a test waits for something that never happens.
  page.setDefaultTimeout(120_000);
  if (ownClock) await page.clock.install();
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const told = message.type() === 'error' || message.type() === 'warning';
    if (told && tolerate?.test(message.text()) !== true) troubles.push(`console: ${message.text()}`);
  });
  await page.route(
    (url) => url.hostname !== '127.0.0.1' && url.protocol !== 'data:',
    (route) => {
      troubles.push(`request elsewhere: ${route.request().url()}`);
      return route.abort();
    },
  );
  await page.goto(`${adminUrl}/console/${hash}`);
  return { page, troubles, close: () => context.close() };
}
