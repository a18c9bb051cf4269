import { createHmac, timingSafeEqual } from 'node:crypto';
import { DAY_MS } from '../../lib/clock.ts';
import { readNetwork } from '../../lib/network-list.ts';
import { instantOf, objectOf, parseVersionedState } from '../../lib/state-file.ts';
import { isTokenId, type Token } from './token-format.ts';

/** What a token lets its holder do. None of it ever changes: another token is needed for anything else. */
export interface TokenGrant {
  /** The name of the account for which the token stands. */
  readonly caller: string;
  /** The permissions, groups and flags of the account that the holder of the token has. */
  readonly scope: readonly string[];
  /** The ids of the only operations that accept the token. Undefined for all, and for undocumented paths. */
  readonly operations?: readonly string[] | undefined;
  /** The only addresses and networks from which the token is accepted. Undefined for all. */
  readonly networks?: readonly string[] | undefined;
  /** The end of the token, in epoch milliseconds, as are all times here. */
  readonly expiresAt: number;
}

/** A token as it is stored, without its secret. */
export interface TokenRecord extends TokenGrant {
  readonly id: string;
  /** The keyed hash of the secret and the grant. */
  readonly hash: string;
  readonly note?: string | undefined;
  readonly createdAt: number;
  /** The hour of the last use is exact enough, so that not every use has to be stored. */
  readonly lastUsedAt?: number | undefined;
  /** An earlier end, because another token has taken the place of this one. */
  readonly retiresAt?: number | undefined;
  /** When the token was revoked. Revoked tokens are kept for a while, so that no gateway can bring them back. */
  readonly revokedAt?: number | undefined;
  /** The password of the caller, sealed. */
  readonly sealed?: string | undefined;
}

/** All tokens. */
export interface TokensState {
  readonly tokens: readonly TokenRecord[];
}

/** The state before a token has been created. */
export const NO_TOKENS: TokensState = { tokens: [] };

/** The maximum number of tokens, including those that have ended recently. */
export const MAX_TOKENS = 10_000;

/** How long ended and revoked tokens are kept, so that operators can look them up, in milliseconds. */
const KEPT_MS = 30 * DAY_MS;

/** Returns the time from which a token is not accepted any more. */
export const endOf = ({ expiresAt, retiresAt = Infinity, revokedAt = Infinity }: TokenRecord): number =>
  Math.min(expiresAt, retiresAt, revokedAt);

/** Returns whether a token is accepted at a time or, if not, whether it was revoked or has ended by itself. */
export function stateOf(record: TokenRecord, now: number): 'valid' | 'ended' | 'revoked' {
  if (record.revokedAt !== undefined) return 'revoked';
  return endOf(record) <= now ? 'ended' : 'valid';
}

/**
 * Returns the hash that is stored for a token. The grant is part of it, so nobody who can change the stored tokens, but
 * does not know the key, can make a token that is accepted, or let one do more.
 */
export function hashOf(key: string, { id, secret }: Token, grant: TokenGrant): Buffer {
  const { caller, scope, operations = null, networks = null, expiresAt } = grant;
  const text = JSON.stringify(['portico token 1', id, secret, caller, scope, operations, networks, expiresAt]);
  return createHmac('sha256', key).update(text).digest();
}

/** Returns whether one of the keys gives the stored hash for this token. Takes the same time for every token. */
export function matches(keys: readonly string[], token: Token, record: TokenRecord): boolean {
  const stored = Buffer.from(record.hash, 'hex');
  // All keys are tried, so that the time does not show which of them fits.
  return keys.map((key) => timingSafeEqual(hashOf(key, token, record), stored)).includes(true);
}

/** A record that no token matches, for ids that do not exist, so that they take as long as those that do. */
export const DECOY: TokenRecord = {
  id: '0'.repeat(16),
  hash: '0'.repeat(64),
  caller: 'nobody',
  scope: [],
  createdAt: 0,
  expiresAt: 0,
};

/**
 * Merges the changes that gateways have made at the same time. Whatever takes something from a token prevails: a
 * revocation, or an earlier end. Tokens that ended long ago are dropped.
 */
export function mergeTokens(base: TokensState, mine: TokensState, theirs: TokensState, now: number): TokensState {
  const [before, own, other] = [byId(base), byId(mine), byId(theirs)];
  const tokens = [...new Set([...own.keys(), ...other.keys()])].flatMap((id) => {
    const [here, there] = [own.get(id), other.get(id)];
    return (here && there ? mergeRecord(before.get(id), here, there) : (here ?? there)) ?? [];
  });
  return swept(tokens, now);
}

const byId = ({ tokens }: TokensState) => new Map(tokens.map((one) => [one.id, one]));

function mergeRecord(before: TokenRecord | undefined, mine: TokenRecord, theirs: TokenRecord): TokenRecord {
  return toRecord({
    // The grant never changes. If it differs, somebody has changed the stored tokens, and the hash shows which is right.
    ...mine,
    revokedAt: least(mine.revokedAt, theirs.revokedAt),
    retiresAt: least(mine.retiresAt, theirs.retiresAt),
    lastUsedAt: greatest(mine.lastUsedAt, theirs.lastUsedAt),
    sealed: mine.sealed === before?.sealed ? theirs.sealed : mine.sealed,
  });
}

const least = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
const greatest = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

/**
 * Returns the state with these tokens, in the order in which they were created. A password is removed when its token ends,
 * and a token when it ended long ago.
 */
export const swept = (tokens: Iterable<TokenRecord>, now: number): TokensState => ({
  tokens: [...tokens]
    .filter((one) => endOf(one) + KEPT_MS > now)
    .map((one) => toRecord(endOf(one) > now ? one : { ...one, sealed: undefined }))
    .sort(inOrder),
});

const inOrder = (a: TokenRecord, b: TokenRecord) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

/** Returns a record without members that are not set, so that equal records have the same text. */
function toRecord(record: TokenRecord): TokenRecord {
  const { id, hash, caller, scope, operations, networks, note, createdAt, expiresAt } = record;
  const { lastUsedAt, retiresAt, revokedAt, sealed } = record;
  return {
    id,
    hash,
    caller,
    scope,
    ...(operations && { operations }),
    ...(networks && { networks }),
    ...(note !== undefined && { note }),
    createdAt,
    expiresAt,
    ...(lastUsedAt !== undefined && { lastUsedAt }),
    ...(retiresAt !== undefined && { retiresAt }),
    ...(revokedAt !== undefined && { revokedAt }),
    ...(sealed !== undefined && { sealed }),
  };
}

/** Formats the tokens as they are stored. */
export function formatTokens({ tokens }: TokensState): string {
  const written = tokens.map((record) =>
    Object.fromEntries(
      Object.entries(toRecord(record)).map(([name, value]) => [name, name.endsWith('At') ? isoOf(value) : value]),
    ),
  );
  return `${JSON.stringify({ version: 1, tokens: written }, null, 2)}\n`;
}

export const isoOf = (instant: unknown) => new Date(Number(instant)).toISOString();

/** Parses stored tokens. Throws an error that describes the problem if they are invalid. */
export function parseTokens(text: string): TokensState {
  const { tokens } = parseVersionedState(text);
  if (!Array.isArray(tokens) || tokens.length > MAX_TOKENS) throw new Error('tokens must be a list');
  const read = tokens.map((value: unknown, index) => parseRecord(value, `tokens[${index}]`));
  if (new Set(read.map(({ id }) => id)).size < read.length) throw new Error('tokens contains the same id twice');
  return { tokens: read.sort(inOrder) };
}

const HASH = /^[0-9a-f]{64}$/;
const BASE64 = /^[A-Za-z0-9+/]{1,2000}={0,2}$/;

function parseRecord(value: unknown, place: string): TokenRecord {
  const { id, hash, caller, scope, operations, networks, note, sealed, ...times } = objectOf(value, place);
  const wrong = (name: string) => new Error(`${place}.${name} is not valid`);
  if (!isTokenId(id)) throw wrong('id');
  if (typeof hash !== 'string' || !HASH.test(hash)) throw wrong('hash');
  if (!isCallerName(caller)) throw wrong('caller');
  if (!isTextList(scope)) throw wrong('scope');
  if (operations !== undefined && !isTextList(operations)) throw wrong('operations');
  if (networks !== undefined && !(isTextList(networks) && networks.every(isNetwork))) throw wrong('networks');
  if (note !== undefined && typeof note !== 'string') throw wrong('note');
  if (sealed !== undefined && !(typeof sealed === 'string' && BASE64.test(sealed))) throw wrong('sealed');
  const timeOf = (name: string) => (times[name] === undefined ? undefined : instantOf(times[name], `${place}.${name}`));
  return toRecord({
    id,
    hash,
    caller,
    scope,
    operations,
    networks,
    note,
    sealed,
    createdAt: instantOf(times['createdAt'], `${place}.createdAt`),
    expiresAt: instantOf(times['expiresAt'], `${place}.expiresAt`),
    lastUsedAt: timeOf('lastUsedAt'),
    retiresAt: timeOf('retiresAt'),
    revokedAt: timeOf('revokedAt'),
  });
}

/** The limits on what a token can contain. */
export const LIMITS = { caller: 256, items: 100, text: 200, note: 200 } as const;

// A colon would end the name in a Basic credential (RFC 7617 §2).
const CALLER = /^[^:\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+$/u;

/** Returns whether a value can be the name of a token's caller. */
export const isCallerName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LIMITS.caller && CALLER.test(value);

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= LIMITS.items &&
  value.every((item) => typeof item === 'string' && item !== '' && item.length <= LIMITS.text);

/** Returns whether a text is an IP address, or a network in CIDR notation. */
export const isNetwork = (text: string): boolean => readNetwork(text) !== undefined;
