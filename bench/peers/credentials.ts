/** The account that sends the measured requests. Its hash was made by `portico hash-password`. */
export const MEMBER = {
  name: 'bench',
  password: 'bench',
  passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$7qxVPu8hXqAxdKqBQ3ngtg$wVOV75yK7Qyug6grEFhxyt4YnG5ibDRjwjI1ywL9pbo',
} as const;

/** The headers of the measured requests. */
export const REQUEST_HEADERS = {
  Authorization: `Basic ${Buffer.from(`${MEMBER.name}:${MEMBER.password}`).toString('base64')}`,
  Accept: 'application/json',
} as const;
