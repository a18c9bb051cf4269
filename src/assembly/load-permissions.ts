import { readFileSync } from 'node:fs';
import { demoAccountFaults } from '../config/cross-faults.ts';
import { rolesFileFaults } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import type { Contract } from '../contract/contract.ts';
import { StartFault } from '../model/fault.ts';
import { compilePermissions, type Permissions } from '../permissions/compile-permissions.ts';
import { loadRoles, type RolesFile, unmappedPolicyOf, withoutDemoAccounts } from '../permissions/roles-file.ts';

/** The roles file in effect and the permissions compiled from it. */
export interface LoadedPermissions {
  readonly roles: RolesFile;
  readonly permissions: Permissions;
}

/**
 * Reads and compiles the roles file. Throws a StartFault that lists all errors in the file. If the upstream is a real
 * server, the demo accounts are removed.
 */
export function loadPermissions(settings: Settings, contract: Contract): LoadedPermissions {
  const further = furtherPermissions(settings, contract);
  const written = readRoles(settings, {
    permissions: further,
    groups: contract.groups.map(({ name }) => name),
    flags: contract.flags.map(({ name }) => name),
  });
  const faults = [...demoAccountFaults(settings, written), ...rolesFileFaults(settings, written)];
  if (faults.length > 0) throw new StartFault(faults);
  const roles = settings.embedded ? written : withoutDemoAccounts(written);
  const { verifier } = settings.authentication;
  const permissions = compilePermissions({
    roles,
    operations: contract.operations,
    unmapped: unmappedPolicyOf(roles, settings.roles.unmapped, verifier),
    verifier,
    further: further.map((permission) => ({ permission })),
  });
  return { roles, permissions };
}

/** Reads the roles file. Without a catalog, the permission names in the file are not checked. */
export function readRoles({ roles: { file } }: Settings, catalogue?: Parameters<typeof loadRoles>[2]): RolesFile {
  return loadRoles(readText(file), file, catalogue);
}

/**
 * Returns the permissions in the catalog and in `undocumented.allow`. Roles may contain them even if no operation
 * requires them.
 */
function furtherPermissions({ undocumented }: Settings, contract: Contract): string[] {
  const allowed = undocumented.allow.map(({ permission }) => permission).filter((name) => name !== undefined);
  return [...new Set([...contract.permissions.map(({ name }) => name), ...allowed])];
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const message = `the roles file cannot be read (${code})`;
    throw new StartFault([{ source: file, pointer: '', message, suggestion: 'set roles.file to its path' }]);
  }
}
