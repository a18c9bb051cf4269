import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** A token as its holder sends it: `ptk_`, the id, `_`, the secret, and a checksum of all of it. */
export interface Token {
  /** Identifies the token in lists, logs and the audit trail. It is not secret. */
  readonly id: string;
  readonly secret: string;
}

/** What every token begins with, so that people and secret scanners recognize one. */
export const TOKEN_PREFIX = 'ptk_';

const ID_BYTES = 8;
const SECRET_BYTES = 20;
const TOKEN = /^ptk_(?<id>[0-9a-f]{16})_(?<secret>[0-9a-f]{40})(?<sum>[0-9a-f]{8})$/;
const TOKEN_ID = /^[0-9a-f]{16}$/;

/** Creates a token that nobody can guess. */
export const createToken = (): Token => ({
  id: randomBytes(ID_BYTES).toString('hex'),
  secret: randomBytes(SECRET_BYTES).toString('hex'),
});

/** Returns the text of a token. */
export function formatToken({ id, secret }: Token): string {
  const text = `${TOKEN_PREFIX}${id}_${secret}`;
  return text + checksumOf(text);
}

/**
 * Reads a token. Returns undefined for any other text. The checksum shows that a token was cut off or mistyped, so that it
 * can be refused without a look at the tokens that exist.
 */
export function parseToken(text: string): Token | undefined {
  const { id, secret, sum } = TOKEN.exec(text)?.groups ?? {};
  if (id === undefined || secret === undefined) return undefined;
  return checksumOf(`${TOKEN_PREFIX}${id}_${secret}`) === sum ? { id, secret } : undefined;
}

/** Returns whether a text has the form of a token's id. */
export const isTokenId = (text: unknown): text is string => typeof text === 'string' && TOKEN_ID.test(text);

/** Returns whether a text contains a token or the beginning of one, in letters of any case, with or without its checksum. */
export const containsToken = (text: string): boolean => CONTAINED.test(text);

const CONTAINED = /ptk_[0-9a-f]{16}/i;

const checksumOf = (text: string) => crc32(text).toString(16).padStart(8, '0');
