import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startReferenceServer, type ReferenceServer } from '../../src/reference/start-reference-server.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';
import { launch } from './launch.ts';
import { openConsole, type OpenConsole, type OpenOptions, TOKEN } from './open-console.ts';

/** A gateway with its console, a reference server behind it, and a browser in front. */
export interface ConsoleRoom {
  readonly gateway: () => TestGateway;
  /** Opens a page of the console in a browser of its own, does something there, and looks whether anything went wrong. */
  visit(hash: string, act: (open: OpenConsole['page']) => Promise<void>, options?: OpenOptions): Promise<void>;
}

/** What a test file chooses of its room. */
export interface RoomOptions extends Partial<Omit<TestGatewayOptions, 'upstream'>> {
  readonly chaos?: readonly string[];
  /** False for a console without a token, which only shows. */
  readonly token?: boolean;
}

/** Starts everything before the tests of a suite and ends it after them. */
export function withConsole(
  browserPath: string,
  { chaos = [], token = true, ...options }: RoomOptions = {},
): ConsoleRoom {
  let browser: Browser | undefined;
  let reference: ReferenceServer | undefined;
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    reference = await startReferenceServer({ chaos });
    const env = token ? { PORTICO_ADMIN_TOKEN: TOKEN } : {};
    [browser, gateway] = await Promise.all([
      launch(browserPath),
      startTestGateway({ upstream: reference, ...options, env: { ...env, ...options.env } }),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await reference?.close();
  });
  const running = (): TestGateway => {
    if (gateway === undefined) throw new Error('the gateway does not run');
    return gateway;
  };
  return {
    gateway: running,
    async visit(hash, act, open = {}) {
      if (browser === undefined) throw new Error('the browser does not run');
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
