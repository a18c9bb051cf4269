import type { Role } from './roles-file.ts';

/** A role with everything it inherits. */
export interface ResolvedRole {
  /** The role itself first, then those it inherits, each once. */
  readonly names: readonly string[];
  readonly permissions: readonly string[];
}

/** Follows inheritance; names without a role give nothing, and a cycle ends where it closes. */
export function resolveRole(roles: ReadonlyMap<string, Role>, name: string): ResolvedRole {
  const names = new Set<string>();
  const permissions = new Set<string>();
  const visit = (next: string) => {
    const role = roles.get(next);
    if (role === undefined || names.has(next)) return;
    names.add(next);
    for (const permission of role.permissions) permissions.add(permission);
    role.inherits.forEach(visit);
  };
  visit(name);
  return { names: [...names], permissions: [...permissions] };
}
