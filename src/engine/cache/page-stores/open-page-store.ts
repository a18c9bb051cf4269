import type { Sharing } from '../../sharing/sharing.ts';
import type { PageStore } from '../page-store.ts';
import { createSharingPageStore } from './sharing-page-store.ts';

/** Opens the page store: what gateways share. A gateway that is alone has no second level, only its memory. */
export function openPageStore(sharing: Pick<Sharing, 'map' | 'claims'>): PageStore {
  return createSharingPageStore(sharing);
}
