import type { Principal } from '../model/principal.ts';

/** Whether a caller is the author of something; `unknown` where nobody knows the author or who the caller is. */
export function ownershipOf(
  { kind, name }: Pick<Principal, 'kind' | 'name'>,
  author: string | undefined,
): 'own' | 'other' | 'unknown' {
  if (kind === 'anonymous') return 'other';
  // A claimed name owns nothing, and nothing is known of it either.
  if (kind === 'unverified' || author === undefined) return 'unknown';
  return author === name ? 'own' : 'other';
}
