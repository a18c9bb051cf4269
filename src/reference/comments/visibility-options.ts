import type { Permission } from '../access/permissions.ts';

/** The name of the visibility that limits nothing; the specification does not show it, and stored comments carry none. */
export const PUBLIC_VISIBILITY = 'public';

/** The three private options with the permission each needs; only `recipients` is named by the specification. */
export const PRIVATE_OPTIONS: ReadonlyMap<string, Permission> = new Map([
  ['recipients', 'Send private comments to own groups'],
  ['originalPoster', 'Send private comments to the original poster'],
  ['moderators', 'Send private comments to moderators'],
]);
