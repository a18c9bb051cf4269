import { closestName } from '../lib/closest-name.ts';
import { StartFault } from '../model/fault.ts';

/** A role: the permissions it holds beside those of the roles it inherits. */
export interface Role {
  readonly inherits: readonly string[];
  readonly permissions: readonly string[];
}

/** An account of the roles file: what a verified name holds. */
export interface Account {
  readonly name: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly flags: readonly string[];
  /** True for the public accounts that only the embedded upstream may know. */
  readonly demo: boolean;
  /** PHC text of an argon2id hash; needed by the verifier `file` only. */
  readonly passwordHash: string | undefined;
}

/** The roles file, read and checked. */
export interface RolesFile {
  /** Where it was read from, for faults. */
  readonly source: string;
  /** `delegate`, `deny` or the name of a role; undefined leaves it to the verifier. */
  readonly unmapped: string | undefined;
  readonly roles: ReadonlyMap<string, Role>;
  readonly accounts: readonly Account[];
}

/** The role that callers without a credential hold. */
export const ANONYMOUS_ROLE = 'anonymous';

/** The flag that grants every permission, and no group membership. */
export const SUPERUSER_FLAG = 'superuser';

/** The names of the public accounts, whose passwords everybody knows. */
export function demoAccounts({ accounts }: RolesFile): string[] {
  return accounts.filter(({ demo }) => demo).map(({ name }) => name);
}

/** The roles file as it holds with a real upstream: nobody is mapped or let in by a public account. */
export function withoutDemoAccounts(roles: RolesFile): RolesFile {
  return { ...roles, accounts: roles.accounts.filter(({ demo }) => !demo) };
}

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
