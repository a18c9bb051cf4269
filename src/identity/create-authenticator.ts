import { GatewayError } from '../errors/gateway-error.ts';
import type { Principal } from '../model/principal.ts';
import { createPrincipals, type Principals } from './audience.ts';
import type { AuthenticationInput, AuthenticationResult, Authenticator } from './authenticator.ts';
import { createBasicAuth } from './basic-auth.ts';
import { MAX_HEADER_LENGTH, toBasicCredential } from './basic-credential.ts';
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

/** A principal that the authorizer lets through, and why it is less than verified. */
interface Approval {
  readonly principal: Principal;
  readonly reason?: string;
}

/** Puts express-basic-auth, the verifier and its memory together; denies whatever no one has approved. */
export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  const { options, verifier, hash = createKeyedHash() } = parts;
  const basicAuth = createBasicAuth();
  const check = createCredentialCheck({ options, verifier, hash, onVerification: parts.onVerification });
  const refusals = createRefusals(options.realm);

  function withoutCredential(input: AuthenticationInput, principals: Principals): AuthenticationResult {
    const { level, otherCredential } = input;
    if (level !== 'enforce' && otherCredential) return toResult(input, principals.unverified(undefined), 'not_basic');
    const anonymous = principals.anonymous();
    if (options.anonymous === 'allow' && !input.needsCredential) return toResult(input, anonymous);
    if (level === 'enforce') throw refusals.credentialsRequired();
    return toResult(input, anonymous, 'credentials_required');
  }

  async function approve(
    credential: Credential,
    input: AuthenticationInput,
    principals: Principals,
  ): Promise<Approval> {
    const { clientAddress, level, now } = input;
    const unverified = (reason: string) => ({ principal: principals.unverified(credential.name), reason });
    if (level === 'off') return unverified('off');
    const verified = { principal: principals.verified(credential.name, credential.authorization) };
    if (check.fresh(credential, now)) return verified;
    const verdict = check.verify(credential, clientAddress, now);
    if (level === 'report' && verifier.kind === 'upstream' && !input.mustKnow) {
      // Nobody waits for this one; what it finds serves the next request.
      verdict.catch(() => undefined);
      return unverified('verification_pending');
    }
    const refusal = refusals.of(await verdict);
    if (refusal === undefined) return verified;
    if (level === 'report') return unverified(refusal.code);
    throw refusal;
  }

  const passed = { enforce: passedAt('enforce'), report: passedAt('report') };

  const malformed = () =>
    refusals.credentialsRefused('The Authorization field holds no usable Basic credential in UTF-8.');

  return {
    async authenticate(input) {
      const { authorizationHeader: header, level } = input;
      const principals = createPrincipals(hash, header, input.otherCredential);
      if (header === undefined) return withoutCredential(input, principals);
      try {
        if (header.length > MAX_HEADER_LENGTH) throw malformed();
        const judge = (name: string, password: string) => {
          const credential = toBasicCredential(name, password);
          return credential ? approve(credential, input, principals) : Promise.reject(malformed());
        };
        const approval = await basicAuth({ header, judge, refusal: malformed });
        return toResult(input, approval.principal, approval.reason);
      } catch (error) {
        if (level === 'enforce') throw error;
        return toResult(input, principals.unverified(undefined), reasonOf(error, header));
      }
    },
    recall({ authorizationHeader: header, level, needsCredential, now }) {
      if (level === 'off') return undefined;
      const principals = createPrincipals(hash, header, undefined);
      if (header === undefined) {
        if (options.anonymous !== 'allow' || needsCredential) return undefined;
        return { kind: 'principal', principal: principals.anonymous(), trace: passed[level].anonymous };
      }
      // Only a field in the one form that credentials are remembered in is found, whatever else it may be read as.
      const name = header.length > MAX_HEADER_LENGTH ? undefined : check.nameBehind(header, now);
      if (name === undefined) return undefined;
      return { kind: 'principal', principal: principals.verified(name, header), trace: passed[level].verified };
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
  return { kind: 'principal', principal, trace: { level, outcome, principal: principal.kind, ...because } };
}
