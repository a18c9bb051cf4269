/** Who is asking, after authentication (rules, 2). */
export interface Principal {
  readonly kind: 'verified' | 'anonymous' | 'unverified';
  /** The name of the credential; claimed only, while the principal is unverified; undefined for anonymous ones. */
  readonly name: string | undefined;
  /** What tells this caller's stored answers from others': never holds a raw credential. */
  readonly audience: string;
  /** The `Authorization` value to send upstream when credentials are forwarded. */
  readonly authorization: string | undefined;
}

/** The principal of a request that carries no credential. */
export const ANONYMOUS: Principal = {
  kind: 'anonymous',
  name: undefined,
  audience: 'anonymous',
  authorization: undefined,
};
