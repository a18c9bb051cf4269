import { GatewayError } from '../errors/gateway-error.ts';
import type { CheckLevel } from '../model/checks.ts';
import { type Access, ANONYMOUS, type Principal, verifiedAudience } from '../model/principal.ts';
import type { AuthenticationTrace } from '../model/trace.ts';
import type { IdentityOptions } from './identity-options.ts';
import type { LoginLimits } from './login-limits.ts';
import { createRefusals } from './refusals.ts';
import type { CredentialMemory, Revocations } from './revocations.ts';
import type { Calibration, Credential, Verifier } from './verifier.ts';
import { createCredentialCheck, createKeyedHash, type KeyedHash } from './verify-credential.ts';

/** The parts of a request used for authentication. */
export interface AuthenticationInput {
  /** The raw value of the `Authorization` header. */
  readonly authorizationHeader: string | undefined;
  /**
   * The tokens and cookies that are forwarded in addition to the `Authorization` header. Callers with different tokens
   * or cookies do not share stored responses.
   */
  readonly otherCredential?: string | undefined;
  /**
   * Returns the client's address, which is used to count failed attempts. Called only if a credential must be verified.
   */
  readonly clientAddress: () => string;
  /** The client's connection. A credential repeated on the same connection is not hashed again. */
  readonly connection?: object | undefined;
  /** The level of the `authentication` check for this request. */
  readonly level: CheckLevel;
  /** True if anonymous callers are refused even when the configuration allows them (docs/rules.md §2). */
  readonly needsCredential?: boolean;
  /**
   * True if the request must wait for the verifier even at the `report` level, because enforced permissions depend on
   * the caller's identity.
   */
  readonly needsVerification?: boolean;
  /** The current time, in epoch milliseconds. */
  readonly now: number;
}

/** The principal, and the verdict to record in the trace. */
export interface AuthenticationResult {
  readonly principal: Principal;
  readonly trace: AuthenticationTrace;
}

/** Determines the principals of requests. */
export interface Authenticator extends CredentialMemory {
  /**
   * Determines a request's principal. Returns synchronously if no verification is needed, that is, if the credential is
   * missing, malformed or recently verified. At the `enforce` level, throws or rejects with a `GatewayError` if the
   * caller is refused. At the `report` and `off` levels, never fails.
   */
  authenticate(input: AuthenticationInput): AuthenticationResult | Promise<AuthenticationResult>;
  /** Forgets a verified credential that the upstream has refused, so that all gateways verify the caller again. */
  forget(principal: Pick<Principal, 'access' | 'authorization' | 'kind' | 'name'>): void;
  /**
   * Checks that the verifier refuses an invalid credential. The check runs at startup and then at intervals, which are
   * shorter while the result is pending.
   */
  calibrate(): Promise<Calibration>;
  /** Returns an authenticator that asks these verifiers first, in order, and has the same memory. */
  precededBy(verifiers: readonly Verifier[]): Authenticator;
}

/** An authenticator's dependencies and state. */
interface AuthenticatorParts {
  readonly options: IdentityOptions;
  /** The verifiers, in order. The first that knows the scheme of a credential decides. */
  readonly verifiers: readonly Verifier[];
  /**
   * The hash function for audiences. Set only if several authenticators must use the same audiences, such as those
   * before and after a reload.
   */
  readonly hash?: KeyedHash;
  readonly limits: LoginLimits;
  readonly revocations: Pick<Revocations, 'announce' | 'mayTrust'>;
}

/** A principal that may proceed. If the principal is not verified, `reason` states why. */
interface Approval {
  readonly principal: Principal;
  readonly reason?: string;
}

/** A request's credential, and the verifier that decides about it. */
interface Claim {
  readonly verifier: Verifier;
  readonly credential: Credential;
}

/**
 * Creates an authenticator from verifiers, of which the first that knows a credential decides, and a cache of verification
 * results. At the `enforce` level, every caller whose credential cannot be verified is refused.
 */
export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  const { options, verifiers, hash = createKeyedHash(), limits, revocations } = parts;
  const check = createCredentialCheck({ options, hash, limits, revocations });
  return authenticatorWith(verifiers, { options, hash, revocations, check });
}

/** What authenticators with the same memory share. */
interface SharedParts extends Pick<Required<AuthenticatorParts>, 'options' | 'hash' | 'revocations'> {
  readonly check: ReturnType<typeof createCredentialCheck>;
}

function authenticatorWith(verifiers: readonly Verifier[], shared: SharedParts): Authenticator {
  const { options, hash, revocations, check } = shared;
  const refusals = createRefusals(
    verifiers.map(({ scheme }) => scheme),
    options.realm,
  );
  const passed = { enforce: passedAt('enforce'), report: passedAt('report') };
  const scopeChallenges = new Map(verifiers.map((one) => [one, one.scheme.insufficient?.(options.realm)]));

  /**
   * Returns the caller of a fresh credential. Others may have the same memory, so what a verifier has accepted that is not
   * asked any more does not count.
   */
  function recognized(authorization: string, now: number, connection?: object) {
    const caller = check.recognize(authorization, now, connection);
    return caller !== undefined && verifiers.includes(caller.verifier) ? caller : undefined;
  }

  function withoutCredential(input: AuthenticationInput, principals: Principals): AuthenticationResult {
    const { level, otherCredential } = input;
    if (level !== 'enforce' && otherCredential) return toResult(input, principals.unverified(undefined), 'not_basic');
    const anonymous = principals.anonymous();
    if (options.anonymous === 'allow' && !input.needsCredential)
      return level === 'off' ? toResult(input, anonymous) : { principal: anonymous, trace: passed[level].anonymous };
    if (level === 'enforce') throw refusals.credentialsRequired();
    return toResult(input, anonymous, 'credentials_required');
  }

  /** Approves or refuses a caller. Returns synchronously unless the request has to wait for the verifier. */
  function approve(
    { verifier, credential }: Claim,
    input: AuthenticationInput,
    principals: Principals,
  ): Approval | Promise<Approval> {
    const { clientAddress, level, now } = input;
    const unverified = (reason: string) => ({
      principal: principals.unverified(credential.name, verifier.withheld),
      reason,
    });
    if (level === 'off') return unverified('off');
    const verified = ({ name, access }: { readonly name: string; readonly access?: Access | undefined }) => ({
      principal: principals.verified(name, credential.authorization, access, scopeChallenges.get(verifier)),
    });
    const known = recognized(credential.authorization, now);
    if (known !== undefined) return verified(known);
    const verdict = check.verify(verifier, credential, clientAddress(), now);
    if (level === 'report' && verifier.asksUpstream && !input.needsVerification) {
      // This request does not wait for the verification, but later requests can use the result.
      verdict.catch(() => undefined);
      return unverified('verification_pending');
    }
    return verdict.then((verification) => {
      if (verification.kind === 'valid') return verified(verification);
      const refusal = refusals.of(verification, verifier.scheme);
      if (level === 'report') return unverified(refusal.code);
      throw refusal;
    });
  }

  /**
   * Returns the credential in a header and the first verifier whose own it is, or undefined if no verifier has its scheme.
   * If that verifier cannot read it, or no verifier of its scheme knows it, it is malformed.
   */
  function claimOf(header: string): Claim | { readonly malformed: Verifier } | undefined {
    for (const verifier of verifiers) {
      const credential = verifier.scheme.read(header);
      if (credential === 'malformed') return { malformed: verifier };
      if (credential !== undefined) return { verifier, credential };
    }
    const [scheme = ''] = header.trimStart().split(' ', 1);
    const malformed = verifiers.find((one) => one.scheme.name.toLowerCase() === scheme.toLowerCase());
    return malformed && { malformed };
  }

  return {
    expireCallers: check.expireCallers,
    authenticate(input) {
      const { authorizationHeader: header, otherCredential: other, level, now } = input;
      // A recently verified credential in canonical form does not need to be parsed again.
      const caller = header === undefined || level === 'off' ? undefined : recognized(header, now, input.connection);
      if (caller !== undefined && level !== 'off') {
        const audience = caller.audience + suffixOf(hash, other);
        const { name, access, verifier } = caller;
        const principal: Principal =
          access === undefined
            ? { kind: 'verified', name, audience, authorization: header }
            : {
                kind: 'verified',
                name,
                audience,
                authorization: access.authorization,
                access,
                scopeChallenge: scopeChallenges.get(verifier),
              };
        return { principal, trace: passed[level].verified };
      }
      const principals = createPrincipals(hash, header, other);
      if (header === undefined) return withoutCredential(input, principals);
      const failed = (error: unknown): AuthenticationResult => {
        if (level === 'enforce') throw error;
        const reason = error instanceof GatewayError ? error.code : 'internal_error';
        const judge = claim && ('malformed' in claim ? claim.malformed : claim.verifier);
        const principal = principals.unverified(undefined, judge?.withheld);
        return toResult(input, principal, claim === undefined ? 'not_basic' : reason);
      };
      const claim = claimOf(header);
      if (claim === undefined) return failed(refusals.unknownScheme());
      if ('malformed' in claim) return failed(refusals.malformed(claim.malformed.scheme));
      const approval = approve(claim, input, principals);
      if (approval instanceof Promise)
        return approval.then(({ principal, reason }) => toResult(input, principal, reason)).catch(failed);
      return toResult(input, approval.principal, approval.reason);
    },
    forget({ authorization, kind, name, access }) {
      // The upstream has refused what stands for the credential, not the credential.
      if (authorization === undefined || access !== undefined || !check.forget(authorization)) return;
      // Only verified callers' credentials are revoked on other gateways. Otherwise, unverified callers could make the
      // fleet repeatedly verify other callers.
      if (kind === 'verified' && name !== undefined) void revocations.announce(name);
    },
    async calibrate() {
      const results = await Promise.all(verifiers.map((one) => one.calibrate()));
      const resultOf = (kind: Calibration['kind']) => results.find((one) => one.kind === kind);
      const calibration = resultOf('unusable') ?? resultOf('pending') ?? { kind: 'calibrated' };
      if (calibration.kind === 'unusable') {
        check.forgetAll();
        void revocations.announce(undefined);
      }
      return calibration;
    },
    precededBy: (more) => authenticatorWith([...more, ...verifiers], shared),
  };
}

function passedAt(level: 'enforce' | 'report') {
  const verdict = { level, outcome: 'passed' } as const;
  return {
    verified: { ...verdict, principal: 'verified' },
    anonymous: { ...verdict, principal: 'anonymous' },
  } as const;
}

function toResult({ level }: AuthenticationInput, principal: Principal, reason?: string): AuthenticationResult {
  const because = reason === undefined ? {} : { reason };
  // While the verification is pending, the caller is counted as neither accepted nor refused.
  const undecided = level === 'off' || reason === 'verification_pending';
  const outcome = undecided ? 'skipped' : reason === undefined ? 'passed' : 'reported';
  return { principal, trace: { level, outcome, principal: principal.kind, ...because } };
}

/** Creates a request's possible principals, each with the audience for its stored responses. */
interface Principals {
  verified(name: string, authorization: string, access: Access | undefined, scopeChallenge?: string): Principal;
  /** `withheld` is true if the credential must not be sent upstream. */
  unverified(name: string | undefined, withheld?: true): Principal;
  anonymous(): Principal;
}

/**
 * Returns a factory for one request's principals. `other` contains the tokens and cookies in the request, which can
 * affect the response in addition to the `Authorization` header.
 */
function createPrincipals(hash: KeyedHash, header: string | undefined, other: string | undefined): Principals {
  const suffix = suffixOf(hash, other);
  return {
    verified: (name, authorization, access, scopeChallenge) => ({
      kind: 'verified',
      name,
      audience: verifiedAudience(name, access) + suffix,
      ...(access === undefined ? { authorization } : { authorization: access.authorization, access, scopeChallenge }),
    }),
    unverified: (name, withheld) => ({
      kind: 'unverified',
      name,
      audience: `caller:unverified:unverified:${hash('header', header ?? '')}${suffix}`,
      authorization: withheld === true ? undefined : header,
    }),
    anonymous: () => (suffix ? { ...ANONYMOUS, audience: ANONYMOUS.audience + suffix } : ANONYMOUS),
  };
}

/** Returns the audience suffix for callers who also send tokens or cookies, or an empty string for other callers. */
function suffixOf(hash: KeyedHash, other: string | undefined): string {
  return other === undefined || other === '' ? '' : `;${hash('other', other)}`;
}
