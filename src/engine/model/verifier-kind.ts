/** The verifiers of credentials that `authentication.verifier` can name. */
export const VERIFIER_KINDS = ['file', 'upstream'] as const;

export type VerifierKind = (typeof VERIFIER_KINDS)[number];
