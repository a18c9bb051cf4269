import { type BitSet, containsAll, createVocabulary, membersOf } from './vocabulary.ts';
import { type Operation, type PrivateFields, type Requirement, type Term, termsOf } from '../model/operation.ts';
import type { CheckLevel } from '../model/checks.ts';
import { canonicalName, nameKeyFor, type NameRule } from '../model/caller-name.ts';
import type { Access, Principal } from '../model/principal.ts';
import { requiresNothing, type CompiledRequirement, compileRequirement } from './compile-requirement.ts';
import type { Grants } from './decide.ts';
import {
  type Account,
  ANONYMOUS_ROLE,
  type Role,
  type RolesFile,
  SUPERUSER_FLAG,
  type UnmappedPolicy,
} from './roles-file.ts';

/** The inputs for compiling the permission rules. */
export interface PermissionsParts {
  readonly roles: RolesFile;
  readonly operations: readonly (Pick<Operation, 'id' | 'requires'> & Partial<Pick<Operation, 'privateFields'>>)[];
  readonly unmapped: UnmappedPolicy;
  /** How a caller's name is compared with the names of accounts. */
  readonly names: NameRule;
  /** True if the upstream verifies credentials, so that it also decides about callers that are not yet verified. */
  readonly knownToUpstream: boolean;
  /** Requirements that will be compiled later: those for undocumented paths and request rules. */
  readonly further?: readonly Requirement[];
}

/** A role or account and its grants, as shown in tables. */
interface Subject {
  readonly kind: 'role' | 'account';
  readonly name: string;
  readonly grants: Grants;
}

/**
 * The permissions, groups and flags of an account, or those of callers without an account. If the upstream decides what a
 * caller may do, these are the names of which Portico is certain.
 */
export type AccountAccess =
  { readonly kind: 'account' | 'others'; readonly names: readonly string[] } | { readonly kind: 'denied' };

/** The compiled permission rules. */
export interface Permissions {
  /**
   * Returns a caller's grants. `level` is the level of the `permissions` check, and defaults to `enforce`. At the
   * `enforce` level, unverified callers have the same grants as anonymous callers, so that merely claiming a name does
   * not give access (docs/rules.md §2).
   */
  grantsOf(principal: Principal, level?: CheckLevel): Grants;
  /** Returns an operation's compiled requirement. Throws `RangeError` if the operation was not compiled. */
  requirementOf(operationId: string): CompiledRequirement;
  /** Compiles a requirement. Throws `RangeError` if it contains an undeclared term. */
  compile(requirement: Requirement | undefined): CompiledRequirement;
  /**
   * Returns the function that decides whether a caller may read private fields. If only the upstream knows the caller's
   * grants, the decision is left to the upstream. Throws `RangeError` if the requirement contains an undeclared term.
   */
  readerOf(privateFields: PrivateFields): (grants: Grants) => boolean;
  /** Returns what the account of a verified caller grants, by name. A credential with an access of its own never grants more. */
  accountAccess(name: string): AccountAccess;
  readonly subjects: readonly Subject[];
}

/** Compiles roles, accounts and requirements into bit sets. */
export function compilePermissions(parts: PermissionsParts): Permissions {
  const { roles, operations, unmapped } = parts;
  const vocabulary = createVocabulary([...declaredTerms(parts)]);
  const allPermissions = vocabulary.terms.filter(({ kind }) => kind === 'permission');

  function grant(roleNames: readonly string[], groups: readonly string[], flags: readonly string[]): Grants {
    const held = roleNames.map((name) => resolveRole(roles.roles, name));
    const permissions = held.flatMap((role) => role.permissions).map((name): Term => ({ kind: 'permission', name }));
    const bits = vocabulary.setOf([
      ...permissions,
      ...(flags.includes(SUPERUSER_FLAG) ? allPermissions : []),
      ...groups.map((name): Term => ({ kind: 'group', name })),
      ...flags.map((name): Term => ({ kind: 'flag', name })),
    ]);
    const names = [...new Set(held.flatMap((role) => role.names))];
    return { bits, roles: names, delegated: false, denied: false, key: vocabulary.keyOf(bits) };
  }

  const anonymous = grant(roles.roles.has(ANONYMOUS_ROLE) ? [ANONYMOUS_ROLE] : [], [], []);
  const nameKey = nameKeyFor(parts.names);
  const accounts = new Map(roles.accounts.map((one) => [nameKey(one.name), grant(one.roles, one.groups, one.flags)]));
  const spellings = otherSpellings(roles.accounts, ({ name }) => accounts.get(nameKey(name))?.roles ?? [], anonymous);
  const unmappedGrants = grantUnmapped(unmapped, anonymous, (role) => grant([role], [], []));
  const leaveToUpstream = unmapped.kind === 'delegate' && parts.knownToUpstream;
  const unverifiedGrants: Grants = leaveToUpstream ? { ...anonymous, delegated: true, key: undefined } : anonymous;

  const compile = (requirement: Requirement | undefined) => compileRequirement(requirement, vocabulary);
  const requirements = new Map(operations.map(({ id, requires }) => [id, compile(requires)]));

  const ofAccount = (name: string | undefined): Grants =>
    name === undefined
      ? unmappedGrants
      : (accounts.get(nameKey(name)) ?? spellings.get(canonicalName(name)) ?? unmappedGrants);
  const byAccess = new WeakMap<Access, { readonly name: string | undefined; readonly grants: Grants }>();

  /**
   * Returns the grants of a caller whose credential states the roles. The name is not that of an account, so another
   * spelling of an account's name means nothing.
   */
  function ofRoles({ roles: names = [], authorization }: Access): Grants {
    const grants = grant(names, [], []);
    // What the upstream returns to a credential of the caller's own may depend on the account, so pages are not shared.
    return authorization === undefined ? grants : { ...grants, key: undefined };
  }

  /** Returns the grants of a caller whose credential has an access of its own. */
  function withAccess(name: string | undefined, access: Access): Grants {
    const known = byAccess.get(access);
    if (known?.name === name && known !== undefined) return known.grants;
    const held = access.roles === undefined ? ofAccount(name) : ofRoles(access);
    const grants = access.only === undefined ? held : limited(held, access.only);
    byAccess.set(access, { name, grants });
    return grants;
  }

  /** Without the caller's password, the upstream cannot decide either, so only what is certain is granted. */
  const certain = (held: Grants): readonly Term[] =>
    membersOf(held.delegated ? anonymous.bits : held.bits).flatMap((index) => vocabulary.terms[index] ?? []);

  function limited(held: Grants, only: ReadonlySet<string>): Grants {
    if (held.denied) return held;
    const bits = vocabulary.setOf(certain(held).filter(({ name }) => only.has(name)));
    // What the upstream returns may depend on the account, so pages are not shared with callers who have these
    // permissions only.
    return { ...held, bits, delegated: false, key: undefined };
  }

  return {
    grantsOf({ kind, name, access }, level = 'enforce') {
      if (kind === 'anonymous') return anonymous;
      if (kind === 'unverified') return level === 'enforce' ? anonymous : unverifiedGrants;
      return access === undefined ? ofAccount(name) : withAccess(name, access);
    },
    requirementOf(operationId) {
      const requirement = requirements.get(operationId);
      if (requirement === undefined) throw new RangeError(`no rule was compiled for ${operationId}`);
      return requirement;
    },
    compile,
    readerOf({ requires }) {
      const requirement = compile(requires);
      return (grants) => !grants.denied && (grants.delegated || meets(requirement, grants.bits));
    },
    accountAccess(name) {
      const held = ofAccount(name);
      if (held.denied) return { kind: 'denied' };
      const kind = accounts.has(nameKey(name)) ? 'account' : 'others';
      return { kind, names: certain(held).map((term) => term.name) };
    },
    subjects: [
      ...[...roles.roles.keys()].map((name): Subject => ({ kind: 'role', name, grants: grant([name], [], []) })),
      ...roles.accounts.map(({ name }): Subject => ({
        kind: 'account',
        name,
        grants: accounts.get(nameKey(name)) ?? unmappedGrants,
      })),
    ],
  };
}

function meets(requirement: CompiledRequirement, bits: BitSet): boolean {
  if (requiresNothing(requirement)) return true;
  return requirement.alternatives.some((one) => !one.own && containsAll(bits, one.bits));
}

/**
 * Returns the grants of callers whose names are spelled differently from those of all accounts, by canonical name. The
 * server might treat such a name as the account's. If it had the grants of unmapped callers, the account could escape its
 * own role.
 */
function otherSpellings(
  accounts: readonly Account[],
  rolesOf: (account: Account) => readonly string[],
  anonymous: Grants,
): ReadonlyMap<string, Grants> {
  const byName = Map.groupBy(accounts, ({ name }) => canonicalName(name));
  return new Map(
    [...byName].map(([name, same]) => {
      const roles = [...new Set(same.flatMap(rolesOf))];
      return [name, { ...anonymous, roles: [], denied: true, key: undefined, spells: { roles } }];
    }),
  );
}

function grantUnmapped(unmapped: UnmappedPolicy, anonymous: Grants, grantRole: (role: string) => Grants): Grants {
  if (unmapped.kind === 'role') return grantRole(unmapped.role);
  const delegated = unmapped.kind === 'delegate';
  return { ...anonymous, roles: [], delegated, denied: !delegated, key: undefined };
}

function* declaredTerms({ roles, operations, further = [] }: PermissionsParts): Generator<Term> {
  for (const { permissions } of roles.roles.values())
    for (const name of permissions) yield { kind: 'permission', name };
  for (const account of roles.accounts) yield* accountTerms(account);
  for (const { requires, privateFields } of operations) {
    if (requires) yield* termsOf(requires);
    if (privateFields) yield* termsOf(privateFields.requires);
  }
  for (const requirement of further) yield* termsOf(requirement);
}

function* accountTerms({ groups, flags }: Account): Generator<Term> {
  for (const name of groups) yield { kind: 'group', name };
  for (const name of flags) yield { kind: 'flag', name };
}

/** A role and everything that it inherits. */
interface ResolvedRole {
  /** The role itself, followed by the roles that it inherits from, without duplicates. */
  readonly names: readonly string[];
  readonly permissions: readonly string[];
}

/** Resolves a role's inheritance. Unknown names are ignored, and each cycle is followed only once. */
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
