import { etagOf } from '../../../src/engine/cache/representation.ts';
import type { Stage } from '../stage.ts';

/** The stage that creates the entity tag of a page. */
export const etag: Stage = {
  name: 'etag',
  what: 'SHA-256 of the 29 kB page',
  paidBy: 'miss',
  prepare: ({ body }) => ({ run: () => etagOf(body) }),
};
