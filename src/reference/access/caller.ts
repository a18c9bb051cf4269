import type { Permission } from './permissions.ts';

/** Who asks, as the legacy server sees it; `id` 0 is the anonymous caller. */
export interface Caller {
  readonly id: number;
  readonly username: string;
  readonly anonymous: boolean;
  readonly admin: boolean;
  readonly superuser: boolean;
  readonly moderator: boolean;
  readonly permissions: ReadonlySet<Permission>;
  readonly groups: readonly string[];
}
