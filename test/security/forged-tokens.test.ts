import { expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { formatToken } from '../../src/features/tokens/token-format.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { AUDIENCE, createKey, startIssuer } from '../features/oidc/start-issuer.ts';
import { QUESTIONS, startTokenGateway } from '../features/tokens/token-gateway.ts';

/*
 * The attack: someone who has seen tokens that have ended, or knows the public keys of an issuer, sends every kind of
 * token that a careless verifier accepts, ten thousand in all.
 */

const COUNT = 10_000;
const AT_ONCE = 40;

it('accepts none of 10,000 tokens that are not valid, and sends nothing for them', { timeout: 300_000 }, async () => {
  const clock = createTestClock(Date.now());
  const key = await createKey('first', 'ES256');
  const issuer = await startIssuer(key, await createKey('other', 'RS256'));
  const at = await startTokenGateway({
    clock,
    config: {
      // Each attempt comes from another address, so that the limit on failed attempts does not hide what is tested.
      listen: { trustedProxies: ['127.0.0.1'] },
      oidc: { issuers: [{ issuer: issuer.url, audience: AUDIENCE, caller: 'account' }] },
    },
  });
  const now = () => Math.floor(clock() / 1000);
  const claims = (more: object = {}) => ({
    iss: issuer.url,
    aud: AUDIENCE,
    sub: 'alice',
    account: 'alice',
    iat: now(),
    exp: now() + 300,
    ...more,
  });
  const [valid, revoked, rotated, distant] = [
    await at.create({ expiresDays: 2 }),
    await at.create({ expiresDays: 2 }),
    await at.create({ expiresDays: 2 }),
    await at.create({ expiresDays: 2, networks: ['192.0.2.0/24'] }),
  ];
  const ended = await at.create({ expiresDays: 0.5 });
  const oldJwt = await key.sign(claims({ exp: now() + 60 }));
  for (const { token } of [valid, revoked, rotated, ended]) expect((await at.ask(`Bearer ${token}`)).status).toBe(200);
  expect((await at.ask(`Bearer ${oldJwt}`)).status).toBe(200);
  await at.change('/revoke', { id: revoked.id });
  await at.change('/rotate', { id: rotated.id, overlapHours: 0 });
  clock.advance(43_200);
  const good = await key.sign(claims());
  expect((await at.ask(`Bearer ${good}`)).status).toBe(200);

  const [same, hmacOf] = [await createKey('first', 'ES256'), (payload: object) => unsigned(payload, 'HS256')];
  const hex = (number: number, size: number) => number.toString(16).padStart(size, '7');
  const kinds: readonly ((turn: number) => string | Promise<string>)[] = [
    (turn) => `Bearer ${formatToken({ id: hex(turn, 16), secret: hex(turn * 7919, 40) })}`,
    (turn) => `Bearer ${formatToken({ id: valid.id, secret: hex(turn * 104_729, 40) })}`,
    (turn) => `Bearer ${valid.token.slice(0, 22 + (turn % 46))}`,
    (turn) => `Bearer ${changed(valid.token, turn)}`,
    () => `Bearer ${revoked.token}`,
    () => `Bearer ${rotated.token}`,
    () => `Bearer ${ended.token}`,
    () => `Bearer ${distant.token}`,
    () => basic('bob', valid.token),
    () => basic('Alice', valid.token),
    (turn) => basic('alice', formatToken({ id: valid.id, secret: hex(turn * 15_485_863, 40) })),
    () => `Bearer ${oldJwt}`,
    (turn) => `Bearer ${changed(good, turn)}`,
    async (turn) => `Bearer ${await key.sign(claims({ aud: 'https://other.example/', jti: String(turn) }))}`,
    async (turn) => `Bearer ${await key.sign(claims({ iss: 'https://issuer.example', jti: String(turn) }))}`,
    async (turn) => `Bearer ${await key.sign(claims({ exp: now() - 31, jti: String(turn) }))}`,
    async (turn) => `Bearer ${await same.sign(claims({ jti: String(turn) }))}`,
    (turn) => `Bearer ${unsigned(claims({ jti: String(turn) }), 'none')}`,
    (turn) => `Bearer ${hmacOf(claims({ jti: String(turn) }))}`,
    (turn) => `Bearer ${unsigned(claims({ padding: 'x'.repeat(8_200 + (turn % 500)) }), 'ES256')}`,
    (turn) => `Bearer ${'a'.repeat(1 + (turn % 3_000))}`,
  ];
  const [asked, fetched] = [at.upstream.requests.length, issuer.requests.length];
  const statuses = new Map<number, number>();
  for (let first = 0; first < COUNT; first += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, COUNT - first) }, async (_, index) => {
        const turn = first + index;
        const authorization = (await kinds[turn % kinds.length]?.(turn)) ?? '';
        const address = `10.${(turn >> 16) & 255}.${(turn >> 8) & 255}.${turn & 255}`;
        const { status } = await at.gateway.call(QUESTIONS, {
          user: null,
          headers: { Authorization: authorization, 'X-Forwarded-For': address },
        });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }),
    );
  // A valid token from elsewhere gets a 403. Names are limited, too: a 429.
  expect([...statuses.keys()].filter((status) => ![401, 403, 429].includes(status))).toEqual([]);
  expect(statuses.get(401)).toBeGreaterThan(0.8 * COUNT);
  expect(statuses.get(403)).toBeLessThanOrEqual(COUNT / kinds.length + 1);
  expect(at.upstream.requests).toHaveLength(asked);
  // Only wrong signatures need the keys, which the gateway has.
  expect(issuer.requests.length - fetched).toBeLessThanOrEqual(2);
  expect((await at.ask(`Bearer ${valid.token}`)).status).toBe(200);
  expect((await at.ask(`Bearer ${good}`)).status).toBe(200);
});

/** Returns a token with one other character, somewhere after its beginning. */
function changed(token: string, turn: number): string {
  const places = token.length - 8;
  // The last character of a signature in base64url contains bits that mean nothing.
  const at = 4 + (turn % (places - 1));
  const next = token[at] === 'a' ? 'b' : 'a';
  return token.slice(0, at) + next + token.slice(at + 1);
}

/** Returns a token that nobody has signed. */
function unsigned(payload: object, alg: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg, typ: 'JWT', kid: 'first' })}.${part(payload)}.${alg === 'none' ? '' : 'AAAA'}`;
}
