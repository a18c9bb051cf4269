import { createHash } from 'node:crypto';

/** The stored form of a demo password, salted by the user's id; fast on purpose, as these passwords are public. */
export function passwordHash(userId: number, password: string): string {
  return createHash('sha256').update(`${userId}:${password}`).digest('hex');
}
