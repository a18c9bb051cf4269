import { GatewayError } from '../errors/gateway-error.ts';
import type { Principal } from '../model/principal.ts';
import { createPrincipals, type Principals } from './audience.ts';
import type { AuthenticationInput, AuthenticationResult, Authenticator } from './authenticator.ts';
import { readBasicCredential } from './basic-credential.ts';
import type { IdentityOptions } from './identity-options.ts';
import { createKeyedHash, type KeyedHash } from './keyed-hash.ts';
import { createRefusals } from './refusals.ts';
import type { Credential, Verifier } from './verifier.ts';
import { createCredentialCheck, type Verdict } from './verify-credential.ts';

/** What an authenticator is made of. */
export interface AuthenticatorParts {
  readonly options: IdentityOptions;
  readonly verifier: Verifier;
  /** Given only where several processes must agree on audiences. */
  readonly hash?: KeyedHash;
  /** Hears every finished verification, for metrics. */
  readonly onVerification?: (kind: Verdict['kind']) => void;
}

/** A principal that is let through, and why it is less than verified. */
interface Approval {
  readonly principal: Principal;
  readonly reason?: string;
}

/** Puts the parser of credentials, the verifier and its memory together; denies whatever nothing has approved. */
export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  const { options, verifier, hash = createKeyedHash() } = parts;
  const check = createCredentialCheck({ options, verifier, hash, onVerification: parts.onVerification });
  const refusals = createRefusals(options.realm);
  const passed = { enforce: passedAt('enforce'), report: passedAt('report') };

  function withoutCredential(input: AuthenticationInput, principals: Principals): AuthenticationResult {
    const { level, otherCredential } = input;
    if (level !== 'enforce' && otherCredential) return toResult(input, principals.unverified(undefined), 'not_basic');
    const anonymous = principals.anonymous();
    if (options.anonymous === 'allow' && !input.needsCredential)
      return level === 'off' ? toResult(input, anonymous) : { principal: anonymous, trace: passed[level].anonymous };
    if (level === 'enforce') throw refusals.credentialsRequired();
    return toResult(input, anonymous, 'credentials_required');
  }

  /** Returns at once unless the verifier has to be asked and somebody waits for it. */
  function approve(
    credential: Credential,
    input: AuthenticationInput,
    principals: Principals,
  ): Approval | Promise<Approval> {
    const { clientAddress, level, now } = input;
    const unverified = (reason: string) => ({ principal: principals.unverified(credential.name), reason });
    if (level === 'off') return unverified('off');
    const verified = { principal: principals.verified(credential.name, credential.authorization) };
    if (check.fresh(credential, now)) return verified;
    const verdict = check.verify(credential, clientAddress(), now);
    if (level === 'report' && verifier.kind === 'upstream' && !input.mustKnow) {
      // Nobody waits for this verification; its result serves the next request.
      verdict.catch(() => undefined);
      return unverified('verification_pending');
    }
    return verdict.then((verification) => {
      const refusal = refusals.of(verification);
      if (refusal === undefined) return verified;
      if (level === 'report') return unverified(refusal.code);
      throw refusal;
    });
  }

  const malformed = () =>
    refusals.credentialsRefused('The Authorization header holds no usable Basic credential in UTF-8.');

  return {
    authenticate(input) {
      const { authorizationHeader: header, level, now } = input;
      const principals = createPrincipals(hash, header, input.otherCredential);
      if (header === undefined) return withoutCredential(input, principals);
      // A credential that was verified a short while ago, in the very form that is remembered, is not parsed again.
      const name = level === 'off' ? undefined : check.nameBehind(header, now);
      if (name !== undefined && level !== 'off')
        return { principal: principals.verified(name, header), trace: passed[level].verified };
      const failed = (error: unknown): AuthenticationResult => {
        if (level === 'enforce') throw error;
        return toResult(input, principals.unverified(undefined), reasonOf(error, header));
      };
      const credential = readBasicCredential(header);
      if (credential === undefined) return failed(malformed());
      const approval = approve(credential, input, principals);
      if (approval instanceof Promise)
        return approval.then(({ principal, reason }) => toResult(input, principal, reason)).catch(failed);
      return toResult(input, approval.principal, approval.reason);
    },
    forget({ authorization }) {
      if (authorization !== undefined) check.forget(authorization);
    },
    async calibrate() {
      const calibration = await verifier.calibrate();
      if (calibration.kind === 'unusable') check.forgetAll();
      return calibration;
    },
  };
}

function passedAt(level: 'enforce' | 'report') {
  const verdict = { level, outcome: 'passed' } as const;
  return {
    verified: { ...verdict, principal: 'verified' },
    anonymous: { ...verdict, principal: 'anonymous' },
  } as const;
}

function reasonOf(error: unknown, header: string): string {
  if (!(error instanceof GatewayError)) return 'internal_error';
  return /^ *basic /i.test(header) ? error.code : 'not_basic';
}

function toResult({ level }: AuthenticationInput, principal: Principal, reason?: string): AuthenticationResult {
  const because = reason === undefined ? {} : { reason };
  // What is still being asked says nothing against the caller.
  const undecided = level === 'off' || reason === 'verification_pending';
  const outcome = undecided ? 'skipped' : reason === undefined ? 'passed' : 'reported';
  return { principal, trace: { level, outcome, principal: principal.kind, ...because } };
}
