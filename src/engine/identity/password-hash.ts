import { argon2, argon2Sync, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

/** The cost parameters of an argon2id hash. */
type HashCosts = Pick<PhcHash, 'memory' | 'passes' | 'parallelism'>;

/** The minimum cost parameters recommended in OWASP's Password Storage Cheat Sheet. */
export const STANDARD_COSTS: HashCosts = { memory: 19_456, passes: 2, parallelism: 1 };

/**
 * Hashes a password with a new salt and returns the hash in PHC format. Throws `RangeError` if the password is empty.
 */
export async function hashPassword(password: string, costs: HashCosts = STANDARD_COSTS): Promise<string> {
  if (password === '') throw new RangeError('the password must not be empty');
  const salt = randomBytes(16);
  const tag = await derive('argon2id', { ...costs, message: password, nonce: salt, tagLength: 32 });
  return formatPhcHash({ ...costs, salt, tag });
}

/** Returns whether a password matches a hash. The comparison takes constant time. */
export async function verifyPassword(password: string, hash: PhcHash): Promise<boolean> {
  const { salt: nonce, tag, ...costs } = hash;
  const made = await derive('argon2id', { ...costs, nonce, message: password, tagLength: tag.length });
  return timingSafeEqual(made, tag);
}

/**
 * Returns whether a password matches a hash, like `verifyPassword`, but blocks the event loop for as long as the hash
 * takes. For use at startup only.
 */
export function verifyPasswordSync(password: string, { salt: nonce, tag, ...costs }: PhcHash): boolean {
  return timingSafeEqual(argon2Sync('argon2id', { ...costs, nonce, message: password, tagLength: tag.length }), tag);
}

/** The parts of an argon2id hash. */
export interface PhcHash {
  /** The memory cost, in KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

// The salt has at least 8 bytes (RFC 9106 §3.1), and the tag at least 16.
const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/**
 * Parses `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. Returns undefined for any other string, and for costs above 1 GiB or
 * 20 passes.
 */
export function parsePhcHash(text: string): PhcHash | undefined {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(text) ?? [];
  const costs = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  // RFC 9106 §3.1 requires at least 8 KiB per lane.
  const bounded =
    costs.parallelism >= 1 &&
    costs.parallelism <= 16 &&
    costs.passes >= 1 &&
    costs.passes <= 20 &&
    costs.memory >= 8 * costs.parallelism &&
    costs.memory <= 1_048_576;
  return bounded ? { ...costs, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') } : undefined;
}

/** Formats a hash in PHC format, as it appears in the roles file. */
export function formatPhcHash(hash: PhcHash): string {
  const costs = `m=${hash.memory},t=${hash.passes},p=${hash.parallelism}`;
  return `$argon2id$v=19$${costs}$${base64(hash.salt)}$${base64(hash.tag)}`;
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
