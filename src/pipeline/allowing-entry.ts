import type { CheckName } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';
import type { Principal } from '../model/principal.ts';
import type { Decision, Requirement } from '../model/requirement.ts';
import type { Violation } from '../model/violation.ts';
import type { Grants } from '../permissions/decide.ts';
import type { CompiledGateway } from './compiled-gateway.ts';
import { PASSTHROUGH_BASE } from './undocumented/policy.ts';
import type { UndocumentedVerdict } from './undocumented/verdict.ts';

/** Returns the configuration entry that sets a check of an operation to `report`. */
function levelEntry({ id }: Pick<Operation, 'id'>, check: CheckName): string {
  return `operations: { ${id}: { checks: { ${check}: report } } }`;
}

/**
 * Describes what would make a request without a credential acceptable: a credential or, if possible, a configuration
 * entry.
 */
export function credentialEntry({ needsCredential }: Pick<Operation, 'needsCredential'>): string {
  const send = 'send an HTTP Basic credential (other schemes, such as Bearer, are not accepted)';
  return needsCredential ? send : `${send}, or authentication: { anonymous: allow }`;
}

/** Returns the configuration entry that would allow a request with these invalid parameters. */
export function parameterEntry(operation: Pick<Operation, 'id'>, violations: readonly Violation[]): string {
  const unknown = violations.filter(({ keyword }) => keyword === 'unknown').map(({ at }) => at);
  if (unknown.length < violations.length) return levelEntry(operation, 'requests');
  return `parameters: { allow: { ${operation.id}: [${unknown.map(quoted).join(', ')}] } }`;
}

/** Returns the configuration entry that would allow a page outside the bounds. */
export function pageEntry(operation: Pick<Operation, 'id'>, { pageSize, maxPageSize }: PageSizes): string {
  const isTooLarge = pageSize !== undefined && pageSize > maxPageSize;
  return isTooLarge ? `pageBounds: { maxPageSize: ${pageSize} }` : levelEntry(operation, 'pageBounds');
}

interface PageSizes {
  readonly pageSize: number | undefined;
  readonly maxPageSize: number;
}

/** Returns the configuration entry that would allow requests for an undocumented path. */
export function undocumentedEntry(
  { pathTemplate }: Pick<CompiledGateway, 'pathTemplate'>,
  { method, path }: { readonly method: string; readonly path: string },
  { isDisabled }: UndocumentedVerdict,
): string {
  if (!path.startsWith(PASSTHROUGH_BASE))
    return `nothing; entries of undocumented.allow apply only to paths below ${PASSTHROUGH_BASE}`;
  const entry = `{ method: ${method === 'HEAD' ? 'GET' : method}, path: ${quoted(pathTemplate(path, true))} }`;
  return `${isDisabled === true ? 'contract: { inferred: true }, or ' : ''}undocumented: { allow: [${entry}] }`;
}

/** Returns the entry for the roles file or the configuration that would let a denied caller use an operation. */
export function grantEntry(
  operation: Pick<Operation, 'id' | 'requires'>,
  { kind, name }: Pick<Principal, 'kind' | 'name'>,
  { roles, denied }: Pick<Grants, 'roles' | 'denied'>,
  { missing }: Extract<Decision, { verdict: 'denied' }>,
  disabledBy: string | undefined,
): string {
  if (disabledBy !== undefined) return entryOf(disabledBy);
  const account = quoted(name ?? '');
  if (denied) return `roles file: accounts: [{ name: ${account}, roles: [${quoted('NAME')}] }]`;
  const terms = lackedTerms(operation.requires, new Set(missing));
  // Only the author of a node owns it, so no configuration entry can grant ownership.
  if (terms === undefined || terms.length === 0) return levelEntry(operation, 'permissions');
  const named = (key: 'permission' | 'group' | 'flag') =>
    terms.flatMap((term) => (key in term ? [quoted(Object.values(term).join(''))] : []));
  const role = roles[0] ?? (kind === 'anonymous' ? 'anonymous' : 'NAME');
  const [permissions, groups, flags] = [named('permission'), named('group'), named('flag')];
  const grants = [
    permissions.length > 0 && `roles: { ${quoted(role)}: { permissions: [${permissions.join(', ')}] } }`,
    groups.length > 0 && `accounts: [{ name: ${account}, groups: [${groups.join(', ')}] }]`,
    flags.length > 0 && `accounts: [{ name: ${account}, flags: [${flags.join(', ')}] }]`,
  ];
  return `roles file: ${grants.filter((text) => text !== false).join(' and ')}`;
}

type Term = Exclude<Requirement, { all: unknown } | { any: unknown } | { own: unknown }>;

/**
 * Chooses the alternative of the requirement that is closest to being met, and returns the terms that the caller
 * lacks. Returns undefined if only the node's author can meet the requirement.
 */
function lackedTerms(requirement: Requirement | undefined, missing: ReadonlySet<string>): readonly Term[] | undefined {
  if (requirement === undefined || 'own' in requirement) return undefined;
  if ('all' in requirement) {
    const parts = requirement.all.map((part) => lackedTerms(part, missing));
    return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
  }
  if ('any' in requirement)
    return requirement.any
      .flatMap((part) => {
        const terms = lackedTerms(part, missing);
        return terms === undefined ? [] : [terms];
      })
      .toSorted((a, b) => a.length - b.length)[0];
  return missing.has(Object.values(requirement).join('')) ? [requirement] : [];
}

/** Formats a key such as `issueTracker.enabled` as YAML. */
function entryOf(key: string): string {
  const names = key.split('.');
  return `${names.join(': { ')}: true${' }'.repeat(names.length - 1)}`;
}

/** Quotes a string in a way that is valid in both YAML and JSON. */
const quoted = (text: string): string => JSON.stringify(text);
