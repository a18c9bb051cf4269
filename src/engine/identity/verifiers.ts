import { fileVerifier } from './file-verifier.ts';
import { upstreamVerifier } from './upstream-verifier.ts';
import type { VerifierKind } from './verifier.ts';

/** The kinds of verifiers, by the name that `authentication.verifier` uses. */
export const VERIFIERS = {
  file: fileVerifier,
  upstream: upstreamVerifier,
} as const satisfies Readonly<Record<string, VerifierKind>>;

/** The name of a kind of verifier. */
export type VerifierName = keyof typeof VERIFIERS;

/** The names of the kinds of verifiers. */
export const VERIFIER_NAMES = Object.keys(VERIFIERS) as readonly VerifierName[];

/** Returns the kind of verifier that a configuration names. */
export const verifierOf = ({ verifier }: { readonly verifier: VerifierName }): VerifierKind => VERIFIERS[verifier];
