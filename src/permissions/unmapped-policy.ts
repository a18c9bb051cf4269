import { StartFault } from '../model/fault.ts';
import { closestName } from '../lib/closest-name.ts';
import type { RolesFile } from './roles-file.ts';

/** What a verified caller without an account may do. */
export type UnmappedPolicy =
  { readonly kind: 'delegate' } | { readonly kind: 'deny' } | { readonly kind: 'role'; readonly role: string };

/** The policy that holds: the configuration's, else the roles file's, else the verifier's; throws StartFault for an unknown role. */
export function unmappedPolicyOf(
  roles: RolesFile,
  configured: string | undefined,
  verifier: 'file' | 'upstream',
): UnmappedPolicy {
  const said = configured ?? roles.unmapped ?? (verifier === 'upstream' ? 'delegate' : 'deny');
  if (said === 'delegate' || said === 'deny') return { kind: said };
  if (roles.roles.has(said)) return { kind: 'role', role: said };
  const suggestion = closestName(said, ['delegate', 'deny', ...roles.roles.keys()]);
  throw new StartFault([
    {
      source: configured === undefined ? roles.source : 'configuration',
      pointer: configured === undefined ? '/unmapped' : '/roles/unmapped',
      message: `"${said}" is neither delegate nor deny nor a role`,
      ...(suggestion === undefined ? {} : { suggestion }),
    },
  ]);
}
