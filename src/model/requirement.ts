/**
 * A requirement that callers must meet: a single permission, group membership or flag, a combination of requirements
 * (all or any of them), or being the author of the requested node (`own`).
 */
export type Requirement =
  | { readonly permission: string }
  | { readonly group: string }
  | { readonly flag: string }
  | { readonly all: readonly Requirement[] }
  | { readonly any: readonly Requirement[] }
  | { readonly own: Requirement };

/** The permission rules' decision on whether a caller may use an operation. */
export type Decision =
  | { readonly verdict: 'allowed'; readonly because: string }
  | {
      readonly verdict: 'denied';
      /** The permissions, groups or flags that would have been sufficient, with the most specific first. */
      readonly missing: readonly string[];
      /** The missing names of each alternative, joined with `and`. Undefined if the requirement has no alternatives. */
      readonly alternatives?: readonly string[];
    }
  /** The upstream decides, because the caller is not in the roles file or because the node's author is unknown. */
  | { readonly verdict: 'delegated'; readonly because: 'unmapped' | 'ownership' };

/** Formats a requirement as one readable line. */
export function describeRequirement(requirement: Requirement | undefined): string {
  if (requirement === undefined) return 'none beyond authentication';
  if ('permission' in requirement) return `"${requirement.permission}"`;
  if ('group' in requirement) return `group "${requirement.group}"`;
  if ('flag' in requirement) return `flag ${requirement.flag}`;
  if ('own' in requirement) return `own node and ${describeRequirement(requirement.own)}`;
  const [parts, word] = 'all' in requirement ? [requirement.all, ' and '] : [requirement.any, ' or '];
  return `(${parts.map(describeRequirement).join(word)})`;
}
