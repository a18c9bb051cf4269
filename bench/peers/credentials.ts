/** An account used for the measured requests. */
export interface Account {
  readonly name: string;
  readonly password: string;
  /** The hash in Portico's roles file, created with argon2id and the same parameters as in `portico hash-password`. */
  readonly passwordHash: string;
}

/** An account with permission to read the question list. */
export const MEMBER: Account = {
  name: 'bench',
  password: 'bench',
  passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$7qxVPu8hXqAxdKqBQ3ngtg$wVOV75yK7Qyug6grEFhxyt4YnG5ibDRjwjI1ywL9pbo',
};

/** An account without permissions. */
export const STRANGER: Account = {
  name: 'stranger',
  password: 'stranger',
  passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$o08HlUrI5R+8csIO/rGeUA$sPd3cAqQ4wGfeje87OvIjt5ke4IHw42VF7BBqHG2z24',
};

/** Returns the value of an account's `Authorization` header. */
export function authorizationOf({ name, password }: Account): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
