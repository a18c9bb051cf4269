/** The verifiers of credentials that `authentication.verifier` can name. */
export type VerifierKind = 'file' | 'upstream';
