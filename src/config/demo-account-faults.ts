import type { Fault } from '../model/fault.ts';
import { demoAccounts } from '../permissions/demo-accounts.ts';
import type { RolesFile } from '../permissions/roles-file.ts';
import type { Settings } from './settings.ts';

/** The fault of letting accounts with public passwords in front of a real upstream; names them all. */
export function demoAccountFaults(settings: Settings, roles: RolesFile): readonly Fault[] {
  const names = demoAccounts(roles);
  if (settings.embedded || settings.authentication.verifier !== 'file' || names.length === 0) return [];
  return [
    {
      source: roles.source,
      pointer: '/accounts',
      message: `demo accounts with public passwords would be let in to a real upstream: ${names.join(', ')}`,
      suggestion: 'remove them from the roles file, or use authentication.verifier: upstream',
    },
  ];
}
