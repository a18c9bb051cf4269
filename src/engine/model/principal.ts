import { canonicalName } from './caller-name.ts';

/** The caller of a request, as established by authentication (docs/rules.md §2). */
export interface Principal {
  readonly kind: 'verified' | 'anonymous' | 'unverified';
  /**
   * The name in the credential. For an unverified caller, the name is only a claim. Undefined for anonymous callers.
   */
  readonly name: string | undefined;
  /**
   * The audience that consists of this caller alone. It begins with `caller:` and separates the caller's stored
   * responses from other callers' stored responses. It never contains a raw credential.
   */
  readonly audience: string;
  /** The `Authorization` value to send upstream if credentials are forwarded. */
  readonly authorization: string | undefined;
  /** What the credential lets the caller do. Undefined if that is what the caller's account may do. */
  readonly access?: Access | undefined;
  /**
   * The `WWW-Authenticate` value of a response that refuses the caller because its credential grants too little (RFC 6750
   * §3.1). Undefined for passwords.
   */
  readonly scopeChallenge?: string | undefined;
}

/** Returns the headers of a response that refuses a verified caller because its credential grants too little. */
export const scopeHeaders = ({ scopeChallenge }: Pick<Principal, 'scopeChallenge'>): Record<string, string> =>
  scopeChallenge === undefined ? {} : { 'WWW-Authenticate': scopeChallenge };

/**
 * What a credential other than the caller's password lets its caller do. The same object stands for the same access, so
 * what follows from it is computed only once.
 */
export interface Access {
  /**
   * Identifies the credential, or all that let their caller do the same. Part of the audience, so never a secret, and one
   * line.
   */
  readonly id: string;
  /** The names of the only permissions, groups and flags that the caller keeps. Undefined if the caller keeps all. */
  readonly only?: ReadonlySet<string>;
  /**
   * The roles of the roles file that the caller has in place of an account, because the credential states them. Undefined
   * if the account of the caller's name decides.
   */
  readonly roles?: readonly string[];
  /**
   * Returns whether the credential is accepted for an operation from an address, and if so, notes that it was used.
   * Undefined if it is accepted for all. Only for what a feature serves itself: other requests pass the stages of the plans.
   */
  readonly useFor?: (operation: string, clientAddress: string) => boolean;
  /** The `Authorization` value to send upstream. Undefined if there is none: the credential itself is never sent. */
  readonly authorization?: string;
}

/**
 * Returns the audience of a verified caller. Each spelling of a name has its own audience, because on some servers two
 * names that differ only in case belong to different people. A credential with an access of its own has an audience of
 * its own.
 */
export const verifiedAudience = (name: string, access?: Pick<Access, 'id'>): string =>
  access === undefined
    ? `caller:verified:user:${name}`
    : `caller:verified:access:${access.id.length}:${access.id}:${name}`;

/**
 * Returns the text under which limits and memories count a caller. It is the same for all spellings of a verified name
 * and for all tokens and cookies sent with it. For any other caller, it is the audience.
 */
export const countedAs = ({ kind, name, audience }: Pick<Principal, 'kind' | 'name' | 'audience'>): string =>
  kind === 'verified' && name !== undefined ? verifiedAudience(canonicalName(name)) : audience;

/** The principal of a request without a credential. */
export const ANONYMOUS: Principal = {
  kind: 'anonymous',
  name: undefined,
  audience: 'caller:anonymous:anonymous',
  authorization: undefined,
};
