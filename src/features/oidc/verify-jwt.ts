import { errors, jwtVerify } from 'jose';
import type { Verification } from '../../engine/identity/verifier.ts';
import type { Access } from '../../engine/model/principal.ts';
import { countMembers, parseBounded } from '../../lib/bounded-json.ts';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import type { Clock } from '../../lib/clock.ts';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import type { Jwts } from './jwt-verifier.ts';
import type { IssuerOptions } from './options.ts';

/** An issuer whose tokens are accepted, with its keys. */
export interface TrustedIssuer extends IssuerOptions {
  readonly keys: IssuerKeys;
}

/** The types of tokens that are for APIs. ID tokens have none, or `JWT`; others, such as logout tokens, are something else. */
const TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt']);
const CALLER = /^[^:\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]{1,256}$/u;
/** The end of the year 9999. A later end, such as Infinity, is a mistake. */
const LAST_SECOND = 253_402_300_799;
const MAX_ROLE_VALUES = 1_000;
const MAX_ACCESSES = 1_000;
const RETRY_SECONDS = 5;

/**
 * Returns what verifies tokens of these issuers. A token that is wrong in itself, whoever signed it, is refused before any
 * key is looked up.
 */
export function createJwts(issuers: readonly TrustedIssuer[], clock: Clock): Jwts {
  const byName = new Map(issuers.map((one) => [one.issuer, one]));
  const accessOf = createAccesses();
  const issuerOf = ({ payload: { iss } }: Claimed) => (typeof iss === 'string' ? byName.get(iss) : undefined);

  function claimOf(token: string): string | undefined {
    const claimed = claimsOf(token);
    const issuer = claimed && issuerOf(claimed);
    if (claimed === undefined || issuer === undefined) return undefined;
    // No name has a colon, so wrong tokens never count for a caller with a password.
    return `oidc:${issuer.issuer} ${callerOf(claimed.payload, issuer.caller) ?? ''}`;
  }

  async function verify(token: string): Promise<Verification> {
    const claimed = claimsOf(token);
    const issuer = claimed && issuerOf(claimed);
    if (claimed === undefined || issuer === undefined || !isPlausible(claimed, issuer, clock())) return INVALID;
    let missing = false;
    for (;;) {
      const keys = await issuer.keys.current(missing);
      if (keys === undefined) return { kind: 'unavailable', retryAfterSeconds: RETRY_SECONDS, unusable: false };
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer: issuer.issuer,
          audience: issuer.audience,
          algorithms: [...issuer.algorithms],
          clockTolerance: issuer.leewaySeconds,
          requiredClaims: ['exp'],
          currentDate: new Date(clock()),
        });
        return verified(payload, issuer, accessOf);
      } catch (error) {
        // The issuer may have begun to use a new key.
        if (!(error instanceof errors.JWKSNoMatchingKey) || missing) return INVALID;
        missing = true;
      }
    }
  }

  function examine(token: string): Verification {
    const claimed = claimsOf(token);
    const issuer = claimed && issuerOf(claimed);
    if (claimed === undefined || issuer === undefined || !isPlausible(claimed, issuer, clock())) return INVALID;
    return verified(claimed.payload, issuer, accessOf);
  }

  return { verify, examine, claimOf };
}

const INVALID: Verification = { kind: 'invalid' };

/** What a token says. Nothing is known about the types, because a client may have written it. */
interface Claimed {
  readonly header: PlainObject;
  readonly payload: PlainObject;
}

/** Returns what a token claims, without any check of the signature. Undefined if it cannot be read. */
function claimsOf(token: string): Claimed | undefined {
  const [header, payload] = token.split('.', 2).map(objectIn);
  return header === undefined || payload === undefined ? undefined : { header, payload };
}

/** The limits on what a token contains, so that reading it takes no longer than necessary. */
const LIMITS = { depth: 16, values: 5_000 };

/**
 * Returns the object in a part of a token. Undefined if it is malformed, or has a member twice: two readers could choose
 * differently (RFC 7519 §4).
 */
function objectIn(part: string): PlainObject | undefined {
  const parsed = parseBounded(Buffer.from(part, 'base64url'), LIMITS);
  if (parsed.state !== 'parsed' || !isPlainObject(parsed.value)) return undefined;
  return countMembers(parsed.value) === parsed.members ? parsed.value : undefined;
}

/**
 * Returns whether a token could be accepted if its signature is right. `jwtVerify` checks the same again; this comes first
 * so that wrong tokens never lead to a fetch.
 */
function isPlausible(
  { header, payload }: Claimed,
  { algorithms, audience, caller, leewaySeconds }: TrustedIssuer,
  now: number,
): boolean {
  const { alg, typ = 'JWT', crit } = header;
  const { aud, exp, nbf = 0, iat = 0, cnf } = payload;
  const seconds = now / 1000;
  return (
    algorithms.some((one) => one === alg) &&
    typeof typ === 'string' &&
    TYPES.has(typ.toLowerCase()) &&
    crit === undefined &&
    // A token that is bound to a key of its holder (RFC 7800) is worthless without the proof that comes with it.
    cnf === undefined &&
    (aud === audience || (Array.isArray(aud) && aud.includes(audience))) &&
    typeof exp === 'number' &&
    exp > seconds - leewaySeconds &&
    exp <= LAST_SECOND &&
    [nbf, iat].every((from) => typeof from === 'number' && from <= seconds + leewaySeconds) &&
    callerOf(payload, caller) !== undefined
  );
}

function callerOf(payload: PlainObject, claim: string): string | undefined {
  const name = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
  return typeof name === 'string' && CALLER.test(name) ? name : undefined;
}

type AccessOf = (issuer: TrustedIssuer, roles: readonly string[] | undefined) => Access;

function verified(payload: PlainObject, issuer: TrustedIssuer, accessOf: AccessOf): Verification {
  const name = callerOf(payload, issuer.caller);
  const { exp } = payload;
  if (name === undefined || typeof exp !== 'number') return INVALID;
  const access = accessOf(issuer, issuer.roles && rolesIn(payload, issuer.roles));
  return { kind: 'valid', name, access, freshUntilAt: (exp + issuer.leewaySeconds) * 1000 };
}

/** Returns the roles for the texts in a claim. Texts without a role grant nothing. */
function rolesIn(payload: PlainObject, { claim, map }: NonNullable<IssuerOptions['roles']>): readonly string[] {
  const given = Object.hasOwn(payload, claim) ? payload[claim] : [];
  const texts: readonly unknown[] = Array.isArray(given) ? given.slice(0, MAX_ROLE_VALUES) : [given];
  const roles = texts.flatMap((text) =>
    typeof text === 'string' && Object.hasOwn(map, text) ? (map[text] ?? []) : [],
  );
  return [...new Set(roles)].sort();
}

/** Returns a function that returns the same access for the same roles, which the engine then compiles only once. */
function createAccesses(): AccessOf {
  const known = boundedMemo(MAX_ACCESSES, (id: string, roles: readonly string[] | undefined): Access => ({
    id,
    ...(roles && { roles }),
  }));
  // A name of an issuer has no spaces, so different issuers and roles never have the same id.
  return ({ issuer }, roles) =>
    known(`oidc ${issuer} ${roles === undefined ? 'account' : JSON.stringify(roles)}`, roles);
}
