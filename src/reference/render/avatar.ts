import { createHash } from 'node:crypto';

/** The MD5 of the e-mail address, which the legacy server shows as `emailHash` and uses in avatar addresses. */
export function emailHash(email: string): string {
  return createHash('md5').update(email.trim().toLowerCase()).digest('hex');
}

/** The address of a user's avatar: absolute, plain http, on the legacy host, as the field shows it. */
export function avatarUrl(email: string): string {
  return `http://community.example.org/avatars/${emailHash(email)}.png`;
}
