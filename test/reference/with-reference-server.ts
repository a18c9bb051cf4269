import { afterAll, beforeAll } from 'vitest';
import {
  startReferenceServer,
  type ReferenceServer,
  type ReferenceServerOptions,
} from '../../src/reference/start-reference-server.ts';
import type { Items, LegacyBody } from './legacy-body.ts';
import { clientOf, type Answer, type Call } from './reference-client.ts';

/** An instant well after the seeded history, at which test clocks stand. */
export const TEST_NOW = Date.UTC(2026, 4, 4, 10, 30, 15, 250);

/** A server for the tests of one file. */
export interface ReferenceRoom {
  readonly call: (path: string, call?: Call) => Promise<Answer>;
  readonly server: () => ReferenceServer;
  /** Moves the server's clock to an instant, epoch ms. */
  readonly setNow: (at: number) => void;
  /** Every question, read by admin in pages of 100. */
  readonly questions: () => Promise<Items<LegacyBody>>;
}

/** Starts a server before the tests of a file and closes it after them. */
export function withReferenceServer(options: ReferenceServerOptions = {}): ReferenceRoom {
  let now = TEST_NOW;
  let server: ReferenceServer | undefined;
  beforeAll(async () => {
    server = await startReferenceServer({ clock: () => now, ...options });
  });
  afterAll(() => server?.close());
  const running = (): ReferenceServer => {
    if (server === undefined) throw new Error('the server does not run');
    return server;
  };
  const call: ReferenceRoom['call'] = (path, details) => clientOf(`${running().url}/services/v2`)(path, details);
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
