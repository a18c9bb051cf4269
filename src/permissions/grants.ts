import type { BitSet } from '../lib/bit-set.ts';

/** What a caller holds, compiled; shared by all callers who hold the same, so never changed. */
export interface Grants {
  /** Permissions, groups and flags as bits. */
  readonly bits: BitSet;
  /** The roles held, inherited ones too. */
  readonly roles: readonly string[];
  /** True where only the upstream knows what this caller may do. */
  readonly delegated: boolean;
  /** True where a verified caller has no account in the roles file and `unmapped` is `deny`. */
  readonly denied: boolean;
  /** Stable text that is the same for callers who hold the same; undefined where that is not known here. */
  readonly key: string | undefined;
}
