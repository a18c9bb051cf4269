import { type Clock, DAY_MS, HOUR_MS } from '../../lib/clock.ts';
import type { PasswordSeal } from './password-seal.ts';
import type { RequestedToken } from './read-request.ts';
import { createToken, formatToken } from './token-format.ts';
import { endOf, hashOf, MAX_TOKENS, type TokenGrant, type TokenRecord } from './token-record.ts';
import type { TokenStore } from './token-store.ts';

/** A new token. Its text is shown to whoever created it, and known to nobody else. */
export interface IssuedToken {
  readonly record: TokenRecord;
  readonly text: string;
}

/** Why a change was not made: there is no such token, or one that has ended, or there are too many. */
export type Unchanged = 'unknown' | 'ended' | 'full';

/** What operators do with tokens. */
export interface TokenManager {
  create(requested: RequestedToken): IssuedToken | Unchanged;
  revoke(id: string): TokenRecord | Unchanged;
  /** Creates a token with the same grant. The old one ends after `overlapHours`. */
  rotate(id: string, overlapHours: number, days: number | undefined): IssuedToken | Unchanged;
  /** Returns a token that is still valid. */
  valid(id: string): TokenRecord | Unchanged;
  /** Stores the caller's password with a token. `password` undefined removes it. Undefined if no key is configured. */
  readonly setPassword: ((id: string, password: string | undefined) => TokenRecord | Unchanged) | undefined;
  /** Seals the stored passwords again that were sealed with the previous key. */
  reseal(): void;
}

/** Creates what operators do with tokens. */
export function createTokenManager(parts: {
  readonly store: TokenStore;
  readonly key: string;
  readonly passwords: PasswordSeal | undefined;
  readonly clock: Clock;
}): TokenManager {
  const { store, key, passwords, clock } = parts;

  function issue(grant: TokenGrant, note: string | undefined, password?: string): IssuedToken | Unchanged {
    if (store.all().length >= MAX_TOKENS) return 'full';
    const token = createToken();
    const record: TokenRecord = {
      id: token.id,
      hash: hashOf(key, token, grant).toString('hex'),
      ...grant,
      note,
      createdAt: clock(),
      ...(password !== undefined && { sealed: passwords?.seal(token.id, password) }),
    };
    store.add(record);
    return { record, text: formatToken(token) };
  }

  function valid(id: string): TokenRecord | Unchanged {
    const record = store.get(id);
    if (record === undefined) return 'unknown';
    return endOf(record) <= clock() ? 'ended' : record;
  }

  /** Changes a token that is still valid, and returns it. */
  function change(id: string, changes: Pick<TokenRecord, 'revokedAt' | 'sealed'>): TokenRecord | Unchanged {
    const before = valid(id);
    if (typeof before === 'string') return before;
    store.change(id, changes);
    return store.get(id) ?? 'unknown';
  }

  return {
    create: ({ grant, note }) => issue(grant, note),
    // The store removes the password of a token that has ended.
    revoke: (id) => change(id, { revokedAt: clock() }),
    rotate(id, overlapHours, days) {
      const old = valid(id);
      if (typeof old === 'string') return old;
      const { caller, scope, operations, networks, note, createdAt, expiresAt, sealed } = old;
      const now = clock();
      const lifetime = days === undefined ? expiresAt - createdAt : days * DAY_MS;
      const password = sealed === undefined ? undefined : passwords?.open(id, sealed)?.password;
      const issued = issue({ caller, scope, operations, networks, expiresAt: now + lifetime }, note, password);
      if (typeof issued !== 'string')
        store.change(id, { retiresAt: Math.min(old.retiresAt ?? Infinity, now + overlapHours * HOUR_MS) });
      return issued;
    },
    valid,
    setPassword:
      passwords &&
      ((id, password) => change(id, { sealed: password === undefined ? undefined : passwords.seal(id, password) })),
    reseal() {
      for (const { id, sealed } of store.all()) {
        const opened = sealed === undefined ? undefined : passwords?.open(id, sealed);
        if (opened?.isCurrent === false) store.change(id, { sealed: passwords?.seal(id, opened.password) });
      }
    },
  };
}
