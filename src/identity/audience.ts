import { ANONYMOUS, type Principal } from '../model/principal.ts';
import type { KeyedHash } from './keyed-hash.ts';

/** Creates the principals of one request, each with the audience of its stored responses. */
export interface Principals {
  verified(name: string, authorization: string): Principal;
  unverified(name: string | undefined): Principal;
  anonymous(): Principal;
}

/**
 * Returns a factory of principals; `other` holds tokens and cookies sent suffixs `Authorization`, which may affect the
 * response too.
 */
export function createPrincipals(hash: KeyedHash, header: string | undefined, other: string | undefined): Principals {
  const suffix = other === undefined || other === '' ? '' : `;${hash('other', other)}`;
  return {
    verified: (name, authorization) => ({ kind: 'verified', name, audience: `user:${name}${suffix}`, authorization }),
    unverified: (name) => ({
      kind: 'unverified',
      name,
      audience: `unverified:${hash('header', header ?? '')}${suffix}`,
      authorization: header,
    }),
    anonymous: () => (suffix ? { ...ANONYMOUS, audience: ANONYMOUS.audience + suffix } : ANONYMOUS),
  };
}
