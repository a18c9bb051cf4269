import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import type { Claim, ClaimListener, SharedMap, Soon } from '../sharing/sharing.ts';

/**
 * The second level of the page cache: bytes that survive this process or that other gateways can read. The first level is
 * the memory of the process (`memory-pages.ts`); `shared-pages.ts` decides what is looked up and stored here, and whether
 * a value may still be used. A store need not understand what it stores, and purges never reach it.
 *
 * Unless a feature opens another store (`openPageStore` in `engine/feature.ts`), it is what gateways share. A store must
 * pass `test/interfaces/page-store.contract.ts`.
 */
export interface PageStore extends SharedMap {
  /**
   * Claims the work of fetching a page for `ms` milliseconds, so that only one gateway fetches it. Returns undefined if
   * another one has claimed it.
   */
  claim(key: string, ms: number): Soon<Claim | undefined>;
  /** Begins to listen for the end of another gateway's fetch. A store that cannot tell never resolves an outcome early. */
  listen(key: string): ClaimListener;
  /** Ends the use of the store when the gateway closes. */
  close?(): Promise<void>;
}

/** What a page store is made of, besides its options. */
export interface PageStoreParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Opens a page store. */
export type OpenPageStore = (parts: PageStoreParts) => PageStore;
