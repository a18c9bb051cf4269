/**
 * What a caller must have: one permission, group membership or flag, all of several, any of several, or a requirement
 * that suffices for the author of the requested node (`own`).
 */
export type Requirement =
  | { readonly permission: string }
  | { readonly group: string }
  | { readonly flag: string }
  | { readonly all: readonly Requirement[] }
  | { readonly any: readonly Requirement[] }
  | { readonly own: Requirement };

/** The decision of the permission rules for one caller and one operation. */
export type Decision =
  | { readonly verdict: 'allowed'; readonly because: string }
  /** `missing` names the permissions, groups or flags that would have sufficed, most specific first. */
  | { readonly verdict: 'denied'; readonly missing: readonly string[] }
  /** Left to the upstream: the caller has no mapping, or only the upstream knows who owns the node. */
  | { readonly verdict: 'delegated'; readonly because: 'unmapped' | 'ownership' };
