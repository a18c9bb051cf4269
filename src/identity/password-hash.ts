import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { formatPhcHash, type PhcHash } from './phc-hash.ts';

const derive = promisify(argon2);

/** The costs of an argon2id hash; `memory` is in KiB. */
export type HashCosts = Pick<PhcHash, 'memory' | 'passes' | 'parallelism'>;

/** The costs that OWASP's password storage cheat sheet names first for small machines. */
export const STANDARD_COSTS: HashCosts = { memory: 19_456, passes: 2, parallelism: 1 };

/** Hashes a password with a fresh salt into the PHC text for the roles file; throws RangeError on an empty password. */
export async function hashPassword(password: string, costs: HashCosts = STANDARD_COSTS): Promise<string> {
  if (password === '') throw new RangeError('an empty password is not hashed');
  const salt = randomBytes(16);
  const tag = await derive('argon2id', { ...costs, message: password, nonce: salt, tagLength: 32 });
  return formatPhcHash({ ...costs, salt, tag });
}

/** Whether a password makes a hash, compared in constant time. */
export async function verifyPassword(password: string, hash: PhcHash): Promise<boolean> {
  const { memory, passes, parallelism, salt: nonce, tag } = hash;
  const made = await derive('argon2id', {
    memory,
    passes,
    parallelism,
    nonce,
    message: password,
    tagLength: tag.length,
  });
  return timingSafeEqual(made, tag);
}
