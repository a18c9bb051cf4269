import { createHash } from 'node:crypto';

/** Returns the hash of a demo password, salted with the user's id. It is deliberately fast: these passwords are public. */
export function passwordHash(userId: number, password: string): string {
  return createHash('sha256').update(`${userId}:${password}`).digest('hex');
}
