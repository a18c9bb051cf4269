import { type BitSet, containsAll } from '../lib/bit-set.ts';
import type { Decision } from '../model/requirement.ts';
import { type Alternative, asksNothing, type CompiledRequirement } from './compile-requirement.ts';

/** Whose node a request names: `not-asked` decides like `unknown`, before anybody has looked. */
export type OwnershipState = 'own' | 'other' | 'unknown' | 'not-asked';

/** What a caller lacks who has no account where every caller needs one. */
export const MISSING_ACCOUNT = 'an account in the roles file';

/** What a caller lacks where only the author of a node may do something. */
export const MISSING_OWNERSHIP = 'ownership of the node';

/** Decides whether grants meet a requirement; ownership counts only where it would change the verdict. */
export function decide(requirement: CompiledRequirement, grants: Grants, ownership: OwnershipState): Decision {
  if (grants.denied) return { verdict: 'denied', missing: [MISSING_ACCOUNT] };
  if (asksNothing(requirement)) return { verdict: 'allowed', because: 'nothing is required' };
  if (grants.delegated) return { verdict: 'delegated', because: 'unmapped' };
  const met = requirement.alternatives.filter(({ bits }) => containsAll(grants.bits, bits));
  const enough = met.find(({ own }) => !own) ?? (ownership === 'own' ? met[0] : undefined);
  if (enough) return { verdict: 'allowed', because: describe(enough) };
  if (met.length > 0 && ownership !== 'other') return { verdict: 'delegated', because: 'ownership' };
  return { verdict: 'denied', missing: missingFrom(requirement, grants, ownership) };
}

function describe({ names, own }: Alternative): string {
  const held = names.map(({ name }) => name).join(' and ');
  return own ? ['own node', held].filter(Boolean).join(', ') : held;
}

/** What is missing to the alternative that is nearest, then to the others; one for own nodes helps only on own nodes. */
function missingFrom({ alternatives }: CompiledRequirement, grants: Grants, ownership: OwnershipState): string[] {
  const open = alternatives.filter(({ own }) => !own || ownership === 'own');
  const gaps = (open.length > 0 ? open : alternatives).map(({ names, own }) => {
    const absent = names.filter(({ index }) => ((grants.bits[index >>> 5] ?? 0) & (1 << (index & 31))) === 0);
    return absent.length === 0 && own ? [MISSING_OWNERSHIP] : absent.map(({ name }) => name);
  });
  return [...new Set(gaps.sort((a, b) => a.length - b.length).flat())];
}

/** What a caller holds, compiled; shared by all callers who hold the same, so never changed. */
export interface Grants {
  /** Permissions, groups and flags as bits. */
  readonly bits: BitSet;
  /** The roles held, inherited ones too. */
  readonly roles: readonly string[];
  /** True where only the upstream knows what this caller may do. */
  readonly delegated: boolean;
  /** True where a verified caller has no account in the roles file and `unmapped` is `deny`. */
  readonly denied: boolean;
  /** Stable text that is the same for callers who hold the same; undefined where that is not known here. */
  readonly key: string | undefined;
}
