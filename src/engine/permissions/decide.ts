import { type BitSet, containsAll } from './vocabulary.ts';
import type { Decision } from '../model/operation.ts';
import { type Alternative, requiresNothing, type CompiledRequirement } from './compile-requirement.ts';

/**
 * Whether the caller owns the node that a request refers to. `not-checked` is used before the lookup and has the same
 * effect as `unknown`.
 */
type OwnershipState = 'own' | 'other' | 'unknown' | 'not-checked';

/** The name reported as missing if the caller has no account and `unmapped` is `deny`. */
export const MISSING_ACCOUNT = 'an account in the roles file';

/** The name reported as missing if the caller's name is another spelling of an account's name. */
export const MISSING_SPELLING = "the account's own spelling of the name";

/** The name reported as missing if the caller is not the author of the node. */
export const MISSING_OWNERSHIP = 'ownership of the node';

/** Decides whether grants meet a requirement. Ownership is considered only if it can change the decision. */
export function decide(requirement: CompiledRequirement, grants: Grants, ownership: OwnershipState): Decision {
  if (grants.denied) return { verdict: 'denied', missing: [missingAccount(grants)] };
  if (requiresNothing(requirement)) return { verdict: 'allowed', because: 'nothing is required' };
  if (grants.delegated) return { verdict: 'delegated', because: 'unmapped' };
  const met = requirement.alternatives.filter(({ bits }) => containsAll(grants.bits, bits));
  const enough = met.find(({ own }) => !own) ?? (ownership === 'own' ? met[0] : undefined);
  if (enough) return { verdict: 'allowed', because: describe(enough) };
  if (met.length > 0 && ownership !== 'other') return { verdict: 'delegated', because: 'ownership' };
  return { verdict: 'denied', ...missingFrom(requirement, grants, ownership) };
}

const missingAccount = ({ spells }: Grants) => (spells === undefined ? MISSING_ACCOUNT : MISSING_SPELLING);

function describe({ names, own }: Alternative): string {
  const text = names.map(({ name }) => name).join(' and ');
  return own ? ['own node', text].filter(Boolean).join(', ') : text;
}

/**
 * Returns the missing permissions, groups and flags, beginning with the alternative that is closest to being met. If
 * another user is the node's author, alternatives that require ownership are omitted unless there are no others.
 */
function missingFrom(
  { alternatives }: CompiledRequirement,
  grants: Grants,
  ownership: OwnershipState,
): Omit<Extract<Decision, { verdict: 'denied' }>, 'verdict'> {
  const open = alternatives.filter(({ own }) => !own || ownership === 'own');
  const gaps = (open.length > 0 ? open : alternatives).map(({ names, own }) => {
    const absent = names.filter(({ index }) => ((grants.bits[index >>> 5] ?? 0) & (1 << (index & 31))) === 0);
    return absent.length === 0 && own ? [MISSING_OWNERSHIP] : absent.map(({ name }) => name);
  });
  gaps.sort((a, b) => a.length - b.length);
  const missing = [...new Set(gaps.flat())];
  return gaps.length < 2 ? { missing } : { missing, alternatives: gaps.map((names) => names.join(' and ')) };
}

/** The compiled grants of a caller. Callers with equal grants share one object, so it must not be modified. */
export interface Grants {
  /** The caller's permissions, groups and flags, as a bit set. */
  readonly bits: BitSet;
  /** The caller's roles, including inherited roles. */
  readonly roles: readonly string[];
  /** True if only the upstream knows what this caller may do. */
  readonly delegated: boolean;
  /**
   * True if a verified caller is denied because the name is another spelling of an account's name, or because `unmapped`
   * is `deny` and the roles file has no account for the caller.
   */
  readonly denied: boolean;
  /**
   * Set if the name is only another spelling of an account's name, which grants nothing. Contains the account's roles,
   * because their rate limits apply to every spelling of its name.
   */
  readonly spells?: { readonly roles: readonly string[] };
  /** A stable key shared by callers with equal grants. Undefined if the grants are unknown. */
  readonly key: string | undefined;
}
