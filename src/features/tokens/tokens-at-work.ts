import type { Verification } from '../../engine/identity/verifier.ts';
import type { Access, Principal } from '../../engine/model/principal.ts';
import { toAuthorization } from '../../lib/basic-credentials.ts';
import { type Clock, HOUR_MS } from '../../lib/clock.ts';
import { isInNetworks } from './networks.ts';
import type { PasswordSeal } from './password-seal.ts';
import type { Token } from './token-format.ts';
import { DECOY, matches, stateOf, type TokenGrant, type TokenRecord } from './token-record.ts';
import type { TokenStore } from './token-store.ts';
import type { VerificationOutcome } from './tokens-metrics.ts';

/** What requests ask about tokens. */
export interface TokensAtWork {
  /** Verifies a token. With `name`, the token must stand for the caller of this name. */
  verify(token: Token, name?: string): Promise<Verification>;
  /** Decides about a token whose secret is assumed to be right. Counts nothing. */
  examine: TokensAtWork['verify'];
  /** Returns the token with which a caller was verified, with its grant. Undefined if it was another credential. */
  usedBy(principal: Pick<Principal, 'access'>): (TokenGrant & Pick<TokenRecord, 'id' | 'sealed'>) | undefined;
  /** Notes that a token was used. At most one use per hour is stored. */
  noteUse(used: Pick<TokenRecord, 'id'>): void;
}

interface Parts {
  readonly store: TokenStore;
  /** The keys under which tokens are stored, the current one first. */
  readonly keys: readonly string[];
  readonly passwords: PasswordSeal | undefined;
  readonly maxUnsyncedSeconds: number;
  readonly clock: Clock;
  /** Called with the outcome of each verification. */
  readonly onVerified: (outcome: VerificationOutcome) => void;
}

const RETRY_SECONDS = 5;

/** Creates what verifies tokens. They are looked up on each request, so a revoked one is refused at once. */
export function createTokensAtWork({
  store,
  keys,
  passwords,
  maxUnsyncedSeconds,
  clock,
  onVerified,
}: Parts): TokensAtWork {
  // The engine computes what follows from an access once per object, so each token has one for as long as it is the same.
  const accesses = new Map<string, { readonly sealed: string | undefined; readonly access: Access }>();
  const tokenOf = new WeakMap<Access, TokenRecord>();

  const noteUse: TokensAtWork['noteUse'] = ({ id }) => {
    const now = clock();
    const { lastUsedAt = -Infinity } = store.get(id) ?? {};
    if (now - lastUsedAt >= HOUR_MS) store.change(id, { lastUsedAt: now });
  };

  function accessOf(record: TokenRecord): Access {
    const { id, caller, scope, operations, networks, sealed } = record;
    const known = accesses.get(id);
    if (known !== undefined && known.sealed === sealed) return known.access;
    const opened = sealed === undefined ? undefined : passwords?.open(id, sealed);
    const access: Access = {
      id: `token ${id}`,
      only: new Set(scope),
      useFor(operation, clientAddress) {
        const isAllowed =
          (networks === undefined || isInNetworks(clientAddress, networks)) &&
          (operations === undefined || operations.includes(operation));
        if (isAllowed) noteUse(record);
        return isAllowed;
      },
      ...(opened && { authorization: toAuthorization(caller, opened.password) }),
    };
    accesses.set(id, { sealed, access });
    tokenOf.set(access, record);
    return access;
  }

  /** Returns how the verification of a token ends, and the token if it is valid. */
  async function judge(
    token: Token,
    name: string | undefined,
    isTrusted = false,
  ): Promise<TokenRecord | Exclude<VerificationOutcome, 'valid'>> {
    if (!isTrusted && !(await store.knowsRevocations(maxUnsyncedSeconds))) return 'unavailable';
    const record = store.get(token.id);
    const isMatch = isTrusted || matches(keys, token, record ?? DECOY);
    const state = record === undefined ? 'wrong' : stateOf(record, clock());
    if (state !== 'valid') accesses.delete(token.id);
    if (record === undefined || !isMatch || (name !== undefined && name !== record.caller)) return 'wrong';
    return state === 'valid' ? record : state;
  }

  /** Returns the verification for what `judge` has found. */
  function verificationOf(found: Awaited<ReturnType<typeof judge>>): Verification {
    if (found === 'unavailable') return { kind: 'unavailable', retryAfterSeconds: RETRY_SECONDS, unusable: false };
    if (typeof found === 'string') return { kind: 'invalid' };
    // The result is never remembered as fresh: the next request looks at the token again.
    return { kind: 'valid', name: found.caller, access: accessOf(found), freshUntilAt: 0 };
  }

  return {
    async verify(token, name) {
      const found = await judge(token, name);
      onVerified(typeof found === 'string' ? found : 'valid');
      return verificationOf(found);
    },
    examine: async (token, name) => verificationOf(await judge(token, name, true)),
    usedBy: ({ access }) => access && tokenOf.get(access),
    noteUse,
  };
}
