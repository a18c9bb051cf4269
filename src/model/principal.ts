/** Who is asking, after authentication (rules, 2). */
export interface Principal {
  readonly kind: 'verified' | 'anonymous' | 'unverified';
  /** The name in the credential; only claimed if the principal is unverified; undefined for anonymous callers. */
  readonly name: string | undefined;
  /** Separates this caller's stored responses from those of other callers; never contains a raw credential. */
  readonly audience: string;
  /** The `Authorization` value to send upstream when credentials are forwarded. */
  readonly authorization: string | undefined;
}

/** The principal of a request without a credential. */
export const ANONYMOUS: Principal = {
  kind: 'anonymous',
  name: undefined,
  audience: 'anonymous',
  authorization: undefined,
};
