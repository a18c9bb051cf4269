import { ANONYMOUS, type Principal } from '../model/principal.ts';
import type { KeyedHash } from './keyed-hash.ts';

/** The principals of one request, each with the audience that its stored answers belong to. */
export interface Principals {
  verified(name: string, authorization: string): Principal;
  unverified(name: string | undefined): Principal;
  anonymous(): Principal;
}

/**
 * Makes principals; `other` are credentials that travel beside the `Authorization` field and may decide an answer too.
 */
export function createPrincipals(hash: KeyedHash, header: string | undefined, other: string | undefined): Principals {
  const beside = other === undefined || other === '' ? '' : `;${hash('other', other)}`;
  return {
    verified: (name, authorization) => ({ kind: 'verified', name, audience: `user:${name}${beside}`, authorization }),
    unverified: (name) => ({
      kind: 'unverified',
      name,
      audience: `unverified:${hash('header', header ?? '')}${beside}`,
      authorization: header,
    }),
    anonymous: () => (beside ? { ...ANONYMOUS, audience: ANONYMOUS.audience + beside } : ANONYMOUS),
  };
}
