import { closestName } from '../lib/closest-name.ts';
import { StartFault } from '../model/fault.ts';

/** A role: its own permissions and the roles that it inherits from. */
export interface Role {
  readonly inherits: readonly string[];
  readonly permissions: readonly string[];
}

/** An account in the roles file, which assigns roles, groups and flags to a verified name. */
export interface Account {
  readonly name: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly flags: readonly string[];
  /** True for demo accounts. They exist only on the embedded upstream, because their passwords are public. */
  readonly demo: boolean;
  /** An argon2id hash in PHC format. Only the `file` verifier needs it. */
  readonly passwordHash: string | undefined;
}

/** The parsed and checked roles file. */
export interface RolesFile {
  /** The name of the file, for use in configuration errors. */
  readonly source: string;
  /** `delegate`, `deny` or the name of a role. If undefined, the verifier determines the default. */
  readonly unmapped: string | undefined;
  readonly roles: ReadonlyMap<string, Role>;
  readonly accounts: readonly Account[];
}

/** The role that callers without a credential have. */
export const ANONYMOUS_ROLE = 'anonymous';

/** The flag that grants all permissions, but no group memberships. */
export const SUPERUSER_FLAG = 'superuser';

/** Returns the names of the demo accounts, whose passwords are public. */
export function demoAccounts({ accounts }: RolesFile): string[] {
  return accounts.filter(({ demo }) => demo).map(({ name }) => name);
}

/** Returns the roles file without demo accounts, for use with a real upstream. */
export function withoutDemoAccounts(roles: RolesFile): RolesFile {
  return { ...roles, accounts: roles.accounts.filter(({ demo }) => !demo) };
}

/** The access that verified callers without an account have. */
export type UnmappedPolicy =
  { readonly kind: 'delegate' } | { readonly kind: 'deny' } | { readonly kind: 'role'; readonly role: string };

/**
 * Returns the configured policy. If there is none, returns the policy in the roles file or, as a last resort, the
 * verifier's default. Throws for unknown roles.
 */
export function unmappedPolicyOf(
  roles: RolesFile,
  configured: string | undefined,
  verifier: 'file' | 'upstream',
): UnmappedPolicy {
  const policy = configured ?? roles.unmapped ?? (verifier === 'upstream' ? 'delegate' : 'deny');
  if (policy === 'delegate' || policy === 'deny') return { kind: policy };
  if (roles.roles.has(policy)) return { kind: 'role', role: policy };
  const suggestion = closestName(policy, ['delegate', 'deny', ...roles.roles.keys()]);
  const inFile = configured === undefined;
  const source = inFile ? roles.source : 'configuration';
  const pointer = inFile ? '/unmapped' : '/roles/unmapped';
  const message = `"${policy}" is not delegate, deny or a role`;
  throw new StartFault([{ source, pointer, message, ...(suggestion === undefined ? {} : { suggestion }) }]);
}
