import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startReferenceServer, type ReferenceServer } from '../../src/reference/start-reference-server.ts';
import { TOKENS_ON } from '../builders/tokens-on.ts';
import { EVERY_PAGE } from '../builders/console-pages.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';
import { launch } from './launch.ts';
import {
  type ContextOptions,
  type OpenConsole,
  openConsole,
  openContext,
  type OpenOptions,
  TOKEN,
} from './open-console.ts';

/** A gateway with its console, the reference server behind it, and a browser. */
export interface ConsoleFixture {
  readonly gateway: () => TestGateway;
  /**
   * Opens a console page and runs the test's actions on it. Fails if the page reports errors. Visits share a browser
   * context, except those that specify context options.
   */
  visit(hash: string, act: (page: Page) => Promise<void>, options?: VisitOptions): Promise<void>;
}

interface VisitOptions extends Omit<OpenOptions, 'newTab'>, ContextOptions {}

/** The options that a test file can set. */
export interface FixtureOptions extends Partial<Omit<TestGatewayOptions, 'upstream'>> {
  readonly chaos?: readonly string[];
  /** False for a read-only console, which needs no token. */
  readonly token?: boolean;
  /** True if the tests advance the pages' clock, for example with `soon`. */
  readonly ownClock?: boolean;
}

/** Starts everything before a suite's tests and stops it afterwards. */
export function withConsole(
  browserPath: string,
  { chaos = [], token = true, ownClock = false, ...options }: FixtureOptions = {},
): ConsoleFixture {
  let browser: Browser | undefined;
  let reference: ReferenceServer | undefined;
  let gateway: TestGateway | undefined;
  let shared: BrowserContext | undefined;
  let previous: OpenConsole | undefined;
  beforeAll(async () => {
    reference = await startReferenceServer({ complete: true, chaos });
    const env = token ? { PORTICO_ADMIN_TOKEN: TOKEN } : {};
    [browser, gateway] = await Promise.all([
      launch(browserPath),
      startTestGateway({
        upstream: reference,
        ...options,
        // The page of tokens exists only if there can be any.
        config: { ...EVERY_PAGE, tokens: TOKENS_ON, readableSecrets: 'allow', ...options.config },
        env: { ...env, ...options.env },
      }),
    ]);
  });
  afterAll(async () => {
    await shared?.close();
    await gateway?.close();
    await reference?.close();
  });
  const running = (): TestGateway => {
    if (gateway === undefined) throw new Error('the gateway is not running');
    return gateway;
  };
  const open = (own: ContextOptions): Promise<BrowserContext> => {
    if (browser === undefined) throw new Error('the browser is not running');
    return openContext(browser, running().adminUrl, { ownClock, ...(!token && { token: null }), ...own });
  };
  return {
    gateway: running,
    async visit(hash, act, { tolerate, ...own } = {}) {
      const isShared = Object.keys(own).length === 0;
      const context = isShared ? (shared ??= await open({})) : await open(own);
      const newTab = isShared && previous !== undefined;
      const opened = await openConsole(context, running().adminUrl, hash, { newTab, ...(tolerate && { tolerate }) });
      if (isShared) {
        // If the previous visit's tab were closed earlier, its process would end and could not be used for this visit.
        await previous?.close();
        previous = opened;
      }
      try {
        await act(opened.page);
        expect(opened.troubles).toEqual([]);
      } finally {
        // The page may still be fetching data, and a route that responds after the page was closed would throw.
        await opened.page.unrouteAll({ behavior: 'ignoreErrors' });
        if (!isShared) await context.close();
      }
    },
  };
}
