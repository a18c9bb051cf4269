import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** The token of the tests' gateways. */
export const TOKEN = 'browser-test-token';

/** A page of the console, and what must not happen on it. */
export interface OpenConsole {
  readonly page: Page;
  /** Errors of scripts and of the browser's console, where broken policies are told too, and requests to other hosts. */
  readonly troubles: readonly string[];
  close(): Promise<void>;
}

/** How the console is opened. */
export interface OpenOptions extends BrowserContextOptions {
  /** The token that the browser answers a challenge with; the tests' own unless given, none for null. */
  readonly token?: string | null;
  /** What the browser tells of answers that the test wants to be refused. */
  readonly tolerate?: RegExp;
}

/** Opens a page of the console and watches it. */
export async function openConsole(
  browser: Browser,
  adminUrl: string,
  hash = '#/traffic',
  { token = TOKEN, tolerate, ...options }: OpenOptions = {},
): Promise<OpenConsole> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...(token !== null && { httpCredentials: { username: 'operator', password: token } }),
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
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
