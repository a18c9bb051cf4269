/**
 * What a caller must hold, as data: one permission, group membership or flag, all of several, any of several,
 * or something that is enough for the author of the node that the request names (`own`).
 */
export type Requirement =
  | { readonly permission: string }
  | { readonly group: string }
  | { readonly flag: string }
  | { readonly all: readonly Requirement[] }
  | { readonly any: readonly Requirement[] }
  | { readonly own: Requirement };

/** What the permission rules say of one caller and one operation. */
export type Decision =
  | { readonly verdict: 'allowed'; readonly because: string }
  /** `missing` names the permissions, groups or flags that would have been enough, most telling first. */
  | { readonly verdict: 'denied'; readonly missing: readonly string[] }
  /** Left to the upstream: the caller has no mapping, or only the upstream knows whose node it is. */
  | { readonly verdict: 'delegated'; readonly because: 'unmapped' | 'ownership' };
