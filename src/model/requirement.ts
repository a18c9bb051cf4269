/**
 * What a caller must have: one permission, group membership or flag, all or any of several requirements, or a
 * requirement that only the author of the requested node may use (`own`).
 */
export type Requirement =
  | { readonly permission: string }
  | { readonly group: string }
  | { readonly flag: string }
  | { readonly all: readonly Requirement[] }
  | { readonly any: readonly Requirement[] }
  | { readonly own: Requirement };

/** The decision of the permission rules about one caller and one operation. */
export type Decision =
  | { readonly verdict: 'allowed'; readonly because: string }
  /** `missing` names the permissions, groups or flags that would have sufficed, most specific first. */
  | { readonly verdict: 'denied'; readonly missing: readonly string[] }
  /**
   * The upstream must decide, because the caller is not in the roles file or because only the upstream knows who owns
   * the node.
   */
  | { readonly verdict: 'delegated'; readonly because: 'unmapped' | 'ownership' };
