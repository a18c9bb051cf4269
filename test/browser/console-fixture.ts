import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startReferenceServer, type ReferenceServer } from '../../src/reference/start-reference-server.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';
import { launch } from './launch.ts';
import { openConsole, type OpenConsole, type OpenOptions, TOKEN } from './open-console.ts';

/** A gateway with its console, the reference server behind it, and a browser. */
export interface ConsoleFixture {
  readonly gateway: () => TestGateway;
  /**
   * Opens a console page in its own browser context and runs the test's actions on it. Fails if the page reports
   * errors.
   */
  visit(hash: string, act: (open: OpenConsole['page']) => Promise<void>, options?: OpenOptions): Promise<void>;
}

/** The options that a test file can set. */
export interface FixtureOptions extends Partial<Omit<TestGatewayOptions, 'upstream'>> {
  readonly chaos?: readonly string[];
  /** False for a read-only console, which needs no token. */
  readonly token?: boolean;
}

/** Starts everything before a suite's tests and stops it afterwards. */
export function withConsole(
  browserPath: string,
  { chaos = [], token = true, ...options }: FixtureOptions = {},
): ConsoleFixture {
  let browser: Browser | undefined;
  let reference: ReferenceServer | undefined;
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    reference = await startReferenceServer({ complete: true, chaos });
    const env = token ? { PORTICO_ADMIN_TOKEN: TOKEN } : {};
    [browser, gateway] = await Promise.all([
      launch(browserPath),
      startTestGateway({ upstream: reference, ...options, env: { ...env, ...options.env } }),
    ]);
  });
  afterAll(async () => {
    await gateway?.close();
    await reference?.close();
  });
  const running = (): TestGateway => {
    if (gateway === undefined) throw new Error('the gateway is not running');
    return gateway;
  };
  return {
    gateway: running,
    async visit(hash, act, open = {}) {
      if (browser === undefined) throw new Error('the browser is not running');
      const { page, troubles, close } = await openConsole(browser, running().adminUrl, hash, {
        ...(!token && { token: null }),
        ...open,
      });
      try {
        await act(page);
        expect(troubles).toEqual([]);
      } finally {
        await close();
      }
    },
  };
}
