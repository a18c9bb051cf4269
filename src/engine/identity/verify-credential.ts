import * as crypto from 'node:crypto';
import { createLruMap } from '../../lib/bounded-maps.ts';
import { canonicalName } from '../model/caller-name.ts';
import { networkOf } from '../../lib/network-address.ts';
import { createSingleFlight } from '../../lib/single-flight.ts';
import { type Access, verifiedAudience } from '../model/principal.ts';
import type { IdentityOptions } from './identity-options.ts';
import type { LoginLimits } from './login-limits.ts';
import type { Revocations } from './revocations.ts';
import type { Credential, Verification, Verifier } from './verifier.ts';

/** The result of a credential check. `limited` means that too many attempts have failed. */
export type Verdict =
  | Exclude<Verification, { kind: 'valid' }>
  /** The caller that the credential identifies, and what it lets the caller do. */
  | ({ readonly kind: 'valid' } & Identified)
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number };

/** What a valid credential says of its caller. */
interface Identified {
  readonly name: string;
  readonly access?: Access | undefined;
  /** The time, in epoch milliseconds, from which the credential must be verified again. Undefined for the default. */
  readonly freshUntilAt?: number | undefined;
}

/**
 * Verifies credentials and caches the results. Recently verified (fresh) credentials are not verified again, and are
 * hashed only once per connection. All other credentials are passed to the verifier. Failed attempts are limited, and
 * concurrent requests with the same credential share one verification.
 */
interface CredentialCheck {
  /**
   * Returns the caller identified by a canonical `Authorization` value, or undefined if the credential is not fresh.
   */
  recognize(authorization: string, now: number, connection?: object): VerifiedCaller | undefined;
  verify(verifier: Verifier, credential: Credential, clientAddress: string, now: number): Promise<Verdict>;
  /** Forgets a credential. Returns false if the credential was not stored. */
  forget(authorization: string): boolean;
  forgetAll(): void;
  /** Expires the credentials of all callers whose names satisfy `matches`, so that these credentials are verified again. */
  expireCallers(matches: (name: string) => boolean): void;
}

/** The dependencies of a credential check. */
interface CredentialCheckParts {
  readonly options: IdentityOptions;
  readonly hash: KeyedHash;
  readonly limits: LoginLimits;
  readonly revocations: Pick<Revocations, 'mayTrust'>;
}

/**
 * Adds a cache and a limit on failed attempts to verifiers. Concurrent requests with the same credential share one
 * verification.
 */
export function createCredentialCheck(parts: CredentialCheckParts): CredentialCheck {
  const { options, hash, limits, revocations } = parts;
  const memory = createVerifiedCredentials(options.cacheSeconds, options.cacheEntries, revocations.mayTrust);
  const flights = createSingleFlight<Verdict>();
  let forgotten = 0;
  const keyOf = (authorization: string) => hash('credential', authorization);
  // Hashing would account for a tenth of the time that a cache hit takes, so the latest credential on each open
  // connection is remembered and not hashed again. Credentials are compared in UTF-16, in which different strings
  // always have different byte sequences.
  const latestByConnection = new WeakMap<object, LatestCredential>();
  const keyOn = (connection: object, authorization: string) => {
    const latest = latestByConnection.get(connection);
    const length = authorization.length * 2;
    if (latest?.bytes.length === length) {
      latest.given.write(authorization, 0, length, 'utf16le');
      if (crypto.timingSafeEqual(latest.bytes, latest.given)) return latest.key;
    }
    const key = keyOf(authorization);
    const bytes = Buffer.from(authorization, 'utf16le');
    latestByConnection.set(connection, { bytes, given: Buffer.alloc(length), key });
    return key;
  };

  async function attempt(
    verifier: Verifier,
    credential: Credential,
    { key, network, now }: { readonly key: string; readonly network: string; readonly now: number },
  ): Promise<Verdict> {
    const known = memory.recall(key, now) !== 'unknown';
    // A caller with a known credential is not limited. A person who guesses passwords for a name therefore cannot lock
    // out its rightful user.
    const { name, claim } = credential;
    const begun = known ? undefined : limits.begin(network, name && canonicalName(name), claim);
    const login = begun instanceof Promise ? await begun : begun;
    if (login?.limited !== undefined) return { kind: 'limited', ...login.limited };
    const before = forgotten;
    const verification = identified(await verifier.verify(credential, known, network), credential, verifier);
    if (verification.kind === 'valid') login?.loggedIn();
    else if (verification.kind !== 'invalid') login?.withdraw();
    if (verification.kind === 'valid' && before === forgotten) memory.remember(key, verification, verifier, now);
    if (verification.kind === 'invalid') memory.forget(key);
    if (verification.kind === 'unavailable' && verification.unusable) memory.clear();
    return verification;
  }

  return {
    expireCallers(matches) {
      forgotten++;
      memory.expireCallers(matches);
    },
    recognize: (authorization, now, connection) =>
      memory.callerOf(connection === undefined ? keyOf(authorization) : keyOn(connection, authorization), now),
    async verify(verifier, credential, clientAddress, now) {
      const key = keyOf(credential.authorization);
      const network = networkOf(clientAddress);
      return flights.run(key, () => attempt(verifier, credential, { key, network, now })).promise;
    },
    forget(authorization) {
      forgotten++;
      return memory.forget(keyOf(authorization));
    },
    forgetAll() {
      forgotten++;
      memory.clear();
    },
  };
}

/** Returns a verification with the name of the caller, which the credential states or the verifier has found. */
function identified(verification: Verification, credential: Credential, { withheld }: Verifier): Verdict {
  if (verification.kind !== 'valid') return verification;
  const name = verification.name ?? credential.name;
  if (name === undefined) throw new Error('the verifier does not name the caller of a valid credential');
  if (withheld === true && verification.access === undefined)
    throw new Error('the verifier withholds its credentials, but does not state what they let the caller do');
  return { ...verification, name };
}

/** The latest credential sent on a connection. */
interface LatestCredential {
  readonly bytes: Buffer;
  /** A buffer for the next credential's bytes, so that the comparison does not have to allocate one. */
  readonly given: Buffer;
  readonly key: string;
}

/**
 * The state of a credential in the cache. `fresh` means that it does not have to be verified, `known` means that it has
 * previously been valid, and `unknown` means that it is not in the cache.
 */
type Memory = 'fresh' | 'known' | 'unknown';

/** The caller identified by a verified credential. */
interface VerifiedCaller {
  readonly name: string;
  /**
   * Every request with the credential receives the same string object, so comparing it with a remembered string takes
   * almost no time.
   */
  readonly audience: string;
  readonly access: Access | undefined;
  /** The verifier that has found the credential valid. */
  readonly verifier: Verifier;
}

/**
 * Stores each verified credential's caller and the time until which the credential is fresh, under a keyed hash of the
 * credential.
 */
interface VerifiedCredentials {
  recall(key: string, now: number): Memory;
  /** Returns the caller that a credential identifies, or undefined if the credential is not fresh. */
  callerOf(key: string, now: number): VerifiedCaller | undefined;
  remember(key: string, identified: Identified, verifier: Verifier, now: number): void;
  /** Forgets a credential. Returns false if the credential was not stored. */
  forget(key: string): boolean;
  /**
   * Marks the fresh credentials of all callers whose names satisfy `matches` as `known`, so that these credentials are
   * verified again.
   */
  expireCallers(matches: (name: string) => boolean): void;
  clear(): void;
}

interface Verified {
  readonly caller: VerifiedCaller;
  readonly verifiedAt: number;
  freshUntilAt: number;
}

/**
 * Creates a cache of limited size. Credentials that are no longer fresh remain in the cache as `known` until they are
 * evicted. `mayTrust` returns whether a credential verified at a given time may still count as fresh. If it is omitted,
 * only the expiry time counts.
 */
export function createVerifiedCredentials(
  cacheSeconds: number,
  cacheEntries: number,
  mayTrust?: (verifiedAt: number) => boolean,
): VerifiedCredentials {
  // The expiry time is part of the value. If lru-cache handled expiry, it would use its own clock and remove expired
  // entries.
  const credentials = createLruMap<string, Verified>(cacheEntries);
  const isFresh = ({ verifiedAt, freshUntilAt }: Verified, now: number) =>
    now < freshUntilAt && (mayTrust === undefined || mayTrust(verifiedAt));
  return {
    recall(key, now) {
      const verified = credentials.get(key);
      if (verified === undefined) return 'unknown';
      return isFresh(verified, now) ? 'fresh' : 'known';
    },
    callerOf(key, now) {
      const verified = credentials.get(key);
      return verified !== undefined && isFresh(verified, now) ? verified.caller : undefined;
    },
    remember(key, { name, access, freshUntilAt = Infinity }, verifier, now) {
      const caller = { name, audience: verifiedAudience(name, access), access, verifier };
      credentials.set(key, {
        caller,
        verifiedAt: now,
        freshUntilAt: Math.min(freshUntilAt, now + cacheSeconds * 1000),
      });
    },
    forget: (key) => credentials.delete(key),
    expireCallers(matches) {
      for (const verified of credentials.values()) if (matches(verified.caller.name)) verified.freshUntilAt = -Infinity;
    },
    clear: () => credentials.clear(),
  };
}

/** Hashes strings. Without the key, a hash reveals nothing about the strings. */
export type KeyedHash = (...texts: readonly string[]) => string;

/**
 * Creates a keyed hash: SHA-256 in base64url, with a key that exists only in this process. The key is a prefix of the
 * hashed input. With this construction, anyone who knew a result could extend the input, but results never leave the
 * process. A call takes a fifth as long as an HMAC.
 */
export function createKeyedHash(key: Buffer = crypto.randomBytes(32)): KeyedHash {
  const prefix = key.toString('hex');
  return (...texts) => {
    let text = prefix;
    // Each string's length is part of the input, so different lists never produce the same input.
    for (const one of texts) text += `${one.length}:${one}`;
    return crypto.hash('sha256', text, 'base64url');
  };
}
