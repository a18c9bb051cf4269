import { SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { PROBE } from '../builders/knowing-upstream.ts';
import { formatToken } from '../../src/features/tokens/token-format.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { AUDIENCE, createKey, startIssuer } from '../features/oidc/start-issuer.ts';
import { QUESTIONS, startTokenGateway } from '../features/tokens/token-gateway.ts';

/*
 * The attack: someone who has seen tokens that have ended, or knows the public keys of an issuer, sends every kind of
 * token that a careless verifier accepts, ten thousand in all. Passwords are verified by the upstream here, so a token that
 * is taken for one, or for the name of a caller, would be sent there.
 */

const COUNT = 10_000;
const AT_ONCE = 40;

it('accepts none of 10,000 tokens that are not valid, and sends nothing for them', { timeout: 300_000 }, async () => {
  const clock = createTestClock(Date.now());
  const key = await createKey('first', 'ES256');
  const other = await createKey('other', 'RS256');
  const issuer = await startIssuer(key, other);
  const trap = await startFakeUpstream(() => ({ json: {} }));
  const at = await startTokenGateway({
    clock,
    config: {
      authentication: { verifier: 'upstream' },
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

  const same = await createKey('first', 'ES256');
  const sameRsa = await createKey('other', 'RS256');
  const { d: _d, ...publicJwk } = same.jwk;
  const shared = (secret: string, turn: number) =>
    new SignJWT(claims({ jti: String(turn) }))
      .setProtectedHeader({ alg: 'HS256', kid: 'other', typ: 'JWT' })
      .sign(new TextEncoder().encode(secret));
  const text = (more: string) => JSON.stringify(claims()).replace(/}$/, `,${more}}`);
  const hex = (number: number, size: number) => number.toString(16).padStart(size, '7');
  const bearer = async (token: string | Promise<string>) => `Bearer ${await token}`;
  const own = (more: object, header?: object) => (turn: number) =>
    bearer(key.sign(claims({ jti: turn, ...more }), header));
  const foreign = (header: object) => (turn: number) => bearer(same.sign(claims({ jti: turn }), header));
  const kinds: Readonly<Record<string, (turn: number) => string | Promise<string>>> = {
    'an unknown id': (turn) => bearer(formatToken({ id: hex(turn, 16), secret: hex(turn * 7919, 40) })),
    'another secret': (turn) => bearer(formatToken({ id: valid.id, secret: hex(turn * 104_729, 40) })),
    'cut off': (turn) => bearer(valid.token.slice(0, 22 + (turn % 46))),
    'one character changed': (turn) => bearer(changed(valid.token, turn)),
    'in capitals': () => bearer(valid.token.toUpperCase()),
    'too long': (turn) => bearer(valid.token + '0'.repeat(1 + (turn % 500))),
    'twice in a field': () => `Bearer ${valid.token}, Bearer ${valid.token}`,
    'two tokens': () => `Bearer ${valid.token} ${valid.token}`,
    'a tab in place of the space': () => `Bearer\t${valid.token}`,
    'no space': () => `Bearer${valid.token}`,
    'in quotes': () => `Bearer "${valid.token}"`,
    'no scheme': () => valid.token,
    'another scheme': () => `Token ${valid.token}`,
    'base64 of a token': () => bearer(btoa(valid.token)),
    revoked: () => bearer(revoked.token),
    replaced: () => bearer(rotated.token),
    ended: () => bearer(ended.token),
    'from elsewhere': () => bearer(distant.token),
    'another user name': () => basic('bob', valid.token),
    'another case of the user name': () => basic('Alice', valid.token),
    'no user name': () => basic('', valid.token),
    'as the user name': () => basic(valid.token, ''),
    'as the user name, with a password': () => basic(valid.token, 'x-oauth-basic'),
    'a space before the password': () => basic('alice', ` ${valid.token}`),
    'a space after the password': () => basic('alice', `${valid.token} `),
    'a password in capitals': () => basic('alice', valid.token.toUpperCase()),
    'another secret as the password': (turn) =>
      basic('alice', formatToken({ id: valid.id, secret: hex(turn * 15_485_863, 40) })),
    'a JSON Web Token as the password': () => basic('alice', good),
    'JWT: replayed after its end': () => bearer(oldJwt),
    'JWT: one character changed': (turn) => bearer(changed(good, turn)),
    'JWT: no signature': () => bearer(`${good.split('.').slice(0, 2).join('.')}.`),
    'JWT: two parts': () => bearer(good.split('.').slice(0, 2).join('.')),
    'JWT: five parts': () => bearer(`${good}.AAAA.AAAA`),
    // A signature of zeros once was valid for every message in some libraries.
    'JWT: a signature of zeros': () =>
      bearer(`${good.split('.').slice(0, 2).join('.')}.${Buffer.alloc(64).toString('base64url')}`),
    'JWT: another audience': own({ aud: 'https://other.example/' }),
    'JWT: a longer audience': own({ aud: `${AUDIENCE}admin` }),
    'JWT: no audience': own({ aud: undefined }),
    'JWT: other audiences': own({ aud: [] }),
    'JWT: another issuer': own({ iss: 'https://issuer.example' }),
    'JWT: the issuer with a slash': own({ iss: `${issuer.url}/` }),
    'JWT: the issuer in a list': own({ iss: [issuer.url] }),
    'JWT: expired': own({ exp: 1 }),
    'JWT: no end': own({ exp: undefined }),
    'JWT: a huge end': own({ exp: 1e15 }),
    'JWT: an infinite end': () => bearer(key.signText(text('"x":1').replace(/"exp":\d+/, '"exp":1e999'))),
    'JWT: an end that is a text': own({ exp: '9999999999' }),
    'JWT: not valid yet': own({ nbf: 9_999_999_999 }),
    'JWT: issued in the future': own({ iat: 9_999_999_999 }),
    'JWT: a claim twice': () => bearer(key.signText(text('"account":"admin"'))),
    'JWT: the audience twice': () => bearer(key.signText(text(`"aud":"${AUDIENCE}"`))),
    'JWT: no claims': () => bearer(key.signText('[]')),
    'JWT: deep claims': () => bearer(key.signText(text(`"x":${'['.repeat(900)}${']'.repeat(900)}`))),
    'JWT: another key of the same name': (turn) => bearer(same.sign(claims({ jti: String(turn) }))),
    'JWT: another RSA key of the same name': (turn) => bearer(sameRsa.sign(claims({ jti: String(turn) }))),
    'JWT: the key in the header': foreign({ jwk: publicJwk }),
    'JWT: the key in the header, with another name': foreign({ jwk: publicJwk, kid: 'mine' }),
    'JWT: an address of keys': foreign({ jku: `${trap.url}/keys` }),
    'JWT: an address of certificates': foreign({ x5u: `${trap.url}/keys`, x5c: ['AAAA'] }),
    'JWT: a path as the name of the key': foreign({ kid: '../../../../../dev/null' }),
    'JWT: an address as the name of the key': foreign({ kid: `${trap.url}/keys` }),
    'JWT: a statement as the name of the key': foreign({ kid: "' UNION SELECT 'x" }),
    'JWT: a property as the name of the key': foreign({ kid: '__proto__' }),
    'JWT: no algorithm': (turn) => bearer(unsigned(claims({ jti: turn }), 'none')),
    'JWT: no algorithm, in capitals': (turn) => bearer(unsigned(claims({ jti: turn }), 'nOnE')),
    'JWT: no algorithm, with a signature': () => bearer(`${unsigned(claims(), 'none')}${good.split('.')[2]}`),
    'JWT: the public key as a shared secret': (turn) => bearer(shared(other.publicPem, turn)),
    'JWT: the public key as a shared secret, in JSON': (turn) =>
      bearer(shared(JSON.stringify({ kty: other.jwk.kty, n: other.jwk.n, e: other.jwk.e }), turn)),
    'JWT: an empty shared secret': (turn) => bearer(unsigned(claims({ jti: turn }), 'HS256')),
    'JWT: the algorithm of the other key': (turn) => bearer(unsigned(claims({ jti: turn }), 'RS256')),
    'JWT: a critical header': async (turn) =>
      bearer(withHeader(await key.sign(claims({ jti: turn })), { alg: 'ES256', kid: 'first', crit: ['x'], x: 1 })),
    'JWT: a logout token': own({}, { typ: 'logout+jwt' }),
    'JWT: bound to a key': own({ cnf: { jkt: 'x' } }),
    'JWT: no caller': own({ account: undefined }),
    'JWT: oversized': (turn) => bearer(unsigned(claims({ padding: 'x'.repeat(8_200 + (turn % 500)) }), 'ES256')),
    'JWT: oversized, and signed': own({ padding: 'x'.repeat(8_200) }),
    'any text': (turn) => bearer('a'.repeat(1 + (turn % 3_000))),
    nothing: () => 'Bearer',
  };
  const names = Object.keys(kinds);
  const [asked, fetched] = [at.upstream.requests.length, issuer.requests.length];
  const statuses = new Map<string, Map<number, number>>(names.map((name) => [name, new Map()]));
  for (let first = 0; first < COUNT; first += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, COUNT - first) }, async (_, index) => {
        const turn = first + index;
        const name = names[turn % names.length] ?? '';
        const authorization = (await kinds[name]?.(turn)) ?? '';
        const address = `10.${(turn >> 16) & 255}.${(turn >> 8) & 255}.${turn & 255}`;
        const { status } = await at.gateway.call(QUESTIONS, {
          user: null,
          headers: { Authorization: authorization, 'X-Forwarded-For': address },
        });
        const counts = statuses.get(name) ?? new Map<number, number>();
        statuses.set(name, counts.set(status, (counts.get(status) ?? 0) + 1));
      }),
    );
  // Attempts with the name of a caller are limited across addresses, too: a 429.
  const expected = (name: string) => (name === 'from elsewhere' ? [403] : [401, 429]);
  const unexpected = [...statuses].filter(([name, counts]) =>
    [...counts.keys()].some((status) => !expected(name).includes(status)),
  );
  expect(unexpected).toEqual([]);
  for (const [name, counts] of statuses) expect([name, counts.has(401) || counts.has(403)]).toEqual([name, true]);
  expect(at.upstream.requests).toHaveLength(asked);
  expect(at.upstream.requests.filter(({ path }) => path === PROBE).length).toBeGreaterThan(0);
  expect(trap.requests).toEqual([]);
  // Only wrong signatures need the keys, which the gateway has.
  expect(issuer.requests.length - fetched).toBeLessThanOrEqual(2);
  expect((await at.ask(`Bearer ${valid.token}`)).status).toBe(200);
  expect((await at.ask(`Bearer ${good}`)).status).toBe(200);
});

it('reads a token only from one Authorization field, in whatever case its scheme is written', async () => {
  const at = await startTokenGateway({ config: { logging: { level: 'trace' } } });
  const { token } = await at.create();
  for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) expect((await at.ask(`${scheme} ${token}`)).status).toBe(200);
  const elsewhere = [
    { target: `${QUESTIONS}?access_token=${token}`, headers: {} },
    { target: QUESTIONS, headers: { Cookie: `access_token=${token}` } },
    { target: QUESTIONS, headers: { 'Proxy-Authorization': `Bearer ${token}` } },
    { target: QUESTIONS, headers: { 'X-Api-Key': token } },
    { target: QUESTIONS, headers: { Authorization: [`Bearer ${token}`, `Bearer ${token}`] } },
    { target: QUESTIONS, headers: { Authorization: [basic('alice'), `Bearer ${token}`] } },
  ];
  const sent = at.upstream.requests.length;
  for (const { target, headers } of elsewhere) {
    const { status } = await at.gateway.call(target, { user: null, headers });
    expect([headers, status]).toEqual([headers, 'Authorization' in headers ? 400 : 401]);
  }
  // Nor with a right password beside it.
  const { status, text } = await at.gateway.call(`${QUESTIONS}?access_token=${token}`, { user: 'alice' });
  expect(status).toBe(400);
  expect(at.upstream.requests).toHaveLength(sent);
  for (const output of [text, at.gateway.log.join('\n')]) expect(output).not.toContain(token.slice(21, -8));
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

/** Returns a signed token with another header. */
const withHeader = (token: string, header: object): string =>
  [Buffer.from(JSON.stringify(header)).toString('base64url'), ...token.split('.').slice(1)].join('.');
