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
}

/**
 * Returns the audience of a verified caller. Each spelling of a name has its own audience, because on some servers two
 * names that differ only in case belong to different people.
 */
export const verifiedAudience = (name: string): string => `caller:verified:user:${name}`;

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
