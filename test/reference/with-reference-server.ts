import { afterAll, beforeAll } from 'vitest';
import {
  startReferenceServer,
  type ReferenceServer,
  type ReferenceServerOptions,
} from '../../src/reference/start-reference-server.ts';
import type { Items, LegacyBody } from './legacy-body.ts';
import { clientOf, type ReceivedResponse, type Call } from './reference-client.ts';

/** The time at which the test clocks start, well after the seeded history. */
export const TEST_NOW = Date.UTC(2026, 4, 4, 10, 30, 15, 250);

/** A reference server for the tests of a single file. */
export interface ReferenceHarness {
  readonly call: (path: string, call?: Call) => Promise<ReceivedResponse>;
  readonly server: () => ReferenceServer;
  /** Sets the server's clock, in epoch milliseconds. */
  readonly setNow: (at: number) => void;
  /** Returns all questions, requested as admin in pages of 100. */
  readonly questions: () => Promise<Items<LegacyBody>>;
}

/** Starts a server before the tests in a file and closes it after them. */
export function withReferenceServer(options: ReferenceServerOptions = {}): ReferenceHarness {
  let now = TEST_NOW;
  let server: ReferenceServer | undefined;
  beforeAll(async () => {
    server = await startReferenceServer({ clock: () => now, ...options });
  });
  afterAll(() => server?.close());
  const running = (): ReferenceServer => {
    if (server === undefined) throw new Error('the server is not running');
    return server;
  };
  const call: ReferenceHarness['call'] = (path, details) => clientOf(`${running().url}/services/v2`)(path, details);
  return {
    call,
    server: running,
    setNow: (at) => {
      now = at;
    },
    questions: async () => {
      const pages = await Promise.all(
        [1, 2, 3, 4, 5, 6].map((page) => call(`/question.json?pageSize=100&page=${page}`)),
      );
      return pages.flatMap(({ json }): readonly LegacyBody[] => json.list) as unknown as Items<LegacyBody>;
    },
  };
}
