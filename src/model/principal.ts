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

/** Returns the audience of a verified caller. */
export const verifiedAudience = (name: string): string => `caller:verified:user:${name}`;

/** The principal of a request without a credential. */
export const ANONYMOUS: Principal = {
  kind: 'anonymous',
  name: undefined,
  audience: 'caller:anonymous:anonymous',
  authorization: undefined,
};
