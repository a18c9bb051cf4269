import { StartFault, type Fault } from '../model/fault.ts';
import { checkRoles, type Catalogue } from './check-roles.ts';
import { parseRolesText, type RawRoles } from './parse-roles-text.ts';
import type { RolesFile } from './roles-file.ts';

/** Reads and checks a roles file; throws StartFault with every fault in it. `catalogue` is what the contract speaks of. */
export function loadRoles(text: string, source: string, catalogue: Catalogue | undefined): RolesFile {
  const parsed = parseRolesText(text, source);
  const faults: readonly Fault[] = parsed.raw ? checkRoles(parsed.raw, source, catalogue) : parsed.faults;
  if (!parsed.raw || faults.length > 0) throw new StartFault(faults);
  return toRolesFile(parsed.raw, source);
}

function toRolesFile(raw: RawRoles, source: string): RolesFile {
  return {
    source,
    unmapped: raw.unmapped,
    roles: new Map(
      Object.entries(raw.roles).map(([name, { inherits = [], permissions = [] }]) => [name, { inherits, permissions }]),
    ),
    accounts: (raw.accounts ?? []).map(({ name, roles, groups = [], flags = [], demo = false, passwordHash }) => {
      return { name, roles, groups, flags, demo, passwordHash };
    }),
  };
}
