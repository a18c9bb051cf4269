import type { Claim, Sharing } from '../sharing/sharing.ts';
import type { PageStore } from './page-store.ts';

/** Creates the page store that gateways share, in Redis if it is configured. */
export function createSharingPageStore(sharing: Pick<Sharing, 'map' | 'claims'>): PageStore {
  const claims = sharing.claims('page');
  return {
    ...sharing.map('page'),
    claim(key, ms) {
      const claim = claims.take(key, ms);
      return claim instanceof Promise ? claim.then(heldOf) : heldOf(claim);
    },
    listen: claims.listen,
  };
}

const heldOf = (claim: Claim | string) => (typeof claim === 'string' ? undefined : claim);
