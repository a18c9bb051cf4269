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
