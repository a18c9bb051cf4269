import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/engine/errors/gateway-error.ts';
import type { AuthenticationInput, Authenticator } from '../../../src/engine/identity/create-authenticator.ts';
import { IDENTITY_DEFAULTS } from '../../../src/engine/identity/identity-options.ts';
import type { Verification, Verifier } from '../../../src/engine/identity/verifier.ts';
import { ANONYMOUS } from '../../../src/engine/model/principal.ts';
import { authenticating, basic, fakeVerifier, refusalOf, START } from './identity-fixtures.ts';

const CHALLENGE = 'Basic realm="Portico", charset="UTF-8"';

describe('a credential at the `enforce` level (docs/rules.md §2)', () => {
  it('becomes a verified principal with the same audience and authorization in any spelling', async () => {
    const { ask } = authenticating(fakeVerifier().verifier);
    const plain = await ask(basic('alice'));
    const odd = await ask(basic('alice').replace('Basic ', 'bAsIc   '));
    expect(plain.principal).toEqual({
      kind: 'verified',
      name: 'alice',
      audience: 'caller:verified:user:alice',
      authorization: basic('alice'),
    });
    expect(odd.principal).toEqual(plain.principal);
    expect(plain.trace).toEqual({ level: 'enforce', outcome: 'passed', principal: 'verified' });
  });

  it('is refused with a text that names the accepted scheme if it is a token', async () => {
    const { ask } = authenticating(fakeVerifier().verifier);
    for (const header of ['Bearer abc', 'Token abc', 'Negotiate Basic abc', 'Basically abc'])
      expect((await refusalOf(ask(header))).message).toBe(
        'Only the Basic scheme is accepted in the Authorization header; tokens such as Bearer are not.',
      );
    for (const header of ['Basic %%%', 'Basic'])
      expect((await refusalOf(ask(header))).message).toMatch(/does not contain a valid Basic credential/);
  });

  it('is refused with 401 and a challenge when the verifier refuses it', async () => {
    const error = await refusalOf(authenticating(fakeVerifier().verifier).ask(basic('alice', 'wrong')));
    expect(error).toMatchObject({ code: 'credentials_refused', status: 401 });
    expect(error.headers).toEqual({ 'WWW-Authenticate': CHALLENGE });
  });

  it.each([
    ['an empty name', basic('', 'x')],
    ['another scheme', 'Bearer abc'],
    ['invalid base64', 'Basic ***'],
    ['a missing colon', `Basic ${Buffer.from('alice').toString('base64')}`],
    ['an empty header', ''],
    ['a control character in a Latin-1 name', `Basic ${Buffer.from([0x6a, 0x9b, 0x3a, 0x78]).toString('base64')}`],
    ['a control character in the name', basic('al\u0000ice', 'x')],
    ['a control character in the password', basic('alice', 'x\u0007')],
    ['an overlong name', basic('a'.repeat(300), 'x')],
    ['an overlong header', basic('alice', 'x'.repeat(8000))],
  ])('is refused without a call of the verifier for %s', async (_, header) => {
    const { verifier, asked } = fakeVerifier(() => ({ kind: 'valid' }));
    const error = await refusalOf(authenticating(verifier).ask(header));
    expect(error).toMatchObject({ code: 'credentials_refused', headers: { 'WWW-Authenticate': CHALLENGE } });
    expect(asked).toEqual([]);
  });

  it('may contain any other text in name and password', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((s) => !/\p{Cc}/u.test(s));
    const name = text.filter((s) => !s.includes(':'));
    await fc.assert(
      fc.asyncProperty(name, text, async (user, password) => {
        const { verifier, asked } = fakeVerifier(() => ({ kind: 'valid' }));
        const { principal } = await authenticating(verifier).ask(basic(user, password));
        expect(principal.name).toBe(user);
        expect(asked).toEqual([{ name: user, password, known: false }]);
      }),
    );
  });

  it('is refused with 503 and Retry-After, never 401, if it cannot be verified', async () => {
    const away: Verification = { kind: 'unavailable', retryAfterSeconds: 7, unusable: false };
    const error = await refusalOf(authenticating(fakeVerifier(() => away).verifier).ask(basic('alice')));
    expect(error).toMatchObject({ code: 'verification_unavailable', status: 503, headers: { 'Retry-After': '7' } });
  });

  // With Retry-After: 0, all clients would retry immediately, while the queue is still full.
  it.each([0, 0.2])(
    'gets 429 and a Retry-After of at least one second if the hashing queue is full (%d s)',
    async (wait) => {
      const busy: Verification = { kind: 'busy', retryAfterSeconds: wait };
      const error = await refusalOf(authenticating(fakeVerifier(() => busy).verifier).ask(basic('alice')));
      expect(error).toMatchObject({ code: 'too_many_attempts', status: 429, headers: { 'Retry-After': '1' } });
    },
  );

  it('is refused if the verifier fails', async () => {
    const { verifier } = fakeVerifier(() => Promise.reject(new Error('bug')));
    await expect(authenticating(verifier).ask(basic('alice'))).rejects.toThrow('bug');
  });

  it('never appears in an error', async () => {
    const secret = 'hunter2-correct-horse';
    for (const kind of ['invalid', 'busy', 'unavailable'] as const) {
      const { verifier } = fakeVerifier(() => ({ kind, retryAfterSeconds: 1, unusable: false }));
      const error = await refusalOf(authenticating(verifier).ask(basic('alice', secret)));
      const shown = JSON.stringify([error.message, error.stack, error.details, error.headers, error.cause]);
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain(basic('alice', secret).slice(6));
    }
  });
});

describe('a caller without a credential (docs/rules.md §2)', () => {
  const { verifier } = fakeVerifier();

  it('is refused with 401 and a challenge by default', async () => {
    const error = await refusalOf(authenticating(verifier).ask(undefined));
    expect(error).toMatchObject({
      code: 'credentials_required',
      status: 401,
      headers: { 'WWW-Authenticate': CHALLENGE },
    });
  });

  it('is the anonymous principal if anonymous callers are allowed', async () => {
    const { principal } = await authenticating(verifier, { anonymous: 'allow' }).ask(undefined);
    expect(principal).toBe(ANONYMOUS);
  });

  it('is still refused if the operation requires a credential', async () => {
    const asking = authenticating(verifier, { anonymous: 'allow' }).ask(undefined, { needsCredential: true });
    await expect(refusalOf(asking)).resolves.toMatchObject({ code: 'credentials_required' });
  });

  it('is not admitted with a wrong credential if anonymous callers are allowed', async () => {
    const asking = authenticating(verifier, { anonymous: 'allow' }).ask(basic('alice', 'wrong'));
    await expect(refusalOf(asking)).resolves.toMatchObject({ code: 'credentials_refused' });
  });

  // A cookie or a token that only the upstream can read is no proof of who is asking.
  it('is treated the same if it sends a token or cookie in another header', async () => {
    const otherCredential = 'session=1';
    const closed = refusalOf(authenticating(verifier).ask(undefined, { otherCredential }));
    await expect(closed).resolves.toMatchObject({ code: 'credentials_required' });
    const open = authenticating(verifier, { anonymous: 'allow' });
    expect((await open.ask(undefined, { otherCredential })).principal.kind).toBe('anonymous');
    const needed = refusalOf(open.ask(undefined, { otherCredential, needsCredential: true }));
    await expect(needed).resolves.toMatchObject({ code: 'credentials_required' });
  });

  it('is never refused at the `report` level, and the trace records the refusal that `enforce` would cause', async () => {
    const { principal, trace } = await authenticating(verifier).ask(undefined, { level: 'report' });
    expect(principal).toBe(ANONYMOUS);
    expect(trace).toMatchObject({ outcome: 'reported', reason: 'credentials_required', principal: 'anonymous' });
  });

  it('gets a challenge with an escaped realm', async () => {
    const error = await refusalOf(authenticating(verifier, { realm: 'a"b\\c' }).ask(undefined));
    expect(error.headers['WWW-Authenticate']).toBe(String.raw`Basic realm="a\"b\\c", charset="UTF-8"`);
  });
});

describe('authentication at the `report` level (docs/rules.md §2)', () => {
  it.each([
    ['a wrong password', basic('alice', 'wrong'), 'alice', 'credentials_refused'],
    ['a bearer token', 'Bearer abc', undefined, 'not_basic'],
    ['a malformed credential', 'Basic ***', undefined, 'credentials_refused'],
    ['an overlong credential', basic('alice', 'x'.repeat(8000)), undefined, 'credentials_refused'],
  ])('admits %s as an unverified principal', async (_, header, name, reason) => {
    const { principal, trace } = await authenticating(fakeVerifier().verifier).ask(header, { level: 'report' });
    expect(principal).toMatchObject({ kind: 'unverified', name, authorization: header });
    expect(trace).toEqual({ level: 'report', outcome: 'reported', principal: 'unverified', reason });
  });

  it('distinguishes unverified callers by a keyed hash that reveals nothing about the credential', async () => {
    const { ask } = authenticating(fakeVerifier().verifier);
    const headers = [basic('alice', 'wrong'), basic('alice', 'wrong2'), 'Bearer abc', 'Bearer abd'];
    const audiences = await Promise.all(
      headers.map(async (one) => (await ask(one, { level: 'report' })).principal.audience),
    );
    expect(new Set(audiences).size).toBe(4);
    for (const audience of audiences) expect(audience).toMatch(/^caller:unverified:unverified:[\w-]{43}$/);
    const elsewhere = await authenticating(fakeVerifier().verifier).ask(headers[0], { level: 'report' });
    expect(audiences).not.toContain(elsewhere.principal.audience);
  });

  it('distinguishes callers by a token that is sent in another header', async () => {
    const { ask } = authenticating(fakeVerifier().verifier);
    const audienceOf = async (header: string | undefined, otherCredential: string | undefined) =>
      (await ask(header, { level: 'report', otherCredential })).principal.audience;
    const audiences = [
      await audienceOf(undefined, 'token-1'),
      await audienceOf(undefined, 'token-2'),
      await audienceOf(undefined, undefined),
      await audienceOf(basic('alice'), 'token-1'),
      await audienceOf(basic('alice'), undefined),
    ];
    expect(new Set(audiences).size).toBe(5);
    expect(audiences.join()).not.toContain('token');
    const { principal, trace } = await ask(undefined, { level: 'report', otherCredential: 'token-1' });
    expect(principal).toMatchObject({ kind: 'unverified', name: undefined });
    expect(trace).toMatchObject({ outcome: 'reported', reason: 'not_basic' });
  });

  it('waits for the upstream if enforced permissions depend on who the caller is', async () => {
    const { verifier } = fakeVerifier();
    const { ask } = authenticating({ ...verifier, asksUpstream: true });
    const { principal } = await ask(basic('alice'), { level: 'report', needsVerification: true });
    expect(principal).toMatchObject({ kind: 'verified', name: 'alice' });
  });

  it('does not share pages between anonymous callers with different cookies', async () => {
    const { ask } = authenticating(fakeVerifier().verifier, { anonymous: 'allow' });
    const audiences = ['session=1', 'session=2', undefined].map(
      async (otherCredential) => (await ask(undefined, { otherCredential })).principal.audience,
    );
    expect(new Set(await Promise.all(audiences)).size).toBe(3);
  });

  it('does not wait for the upstream, and uses the result of the background verification', async () => {
    const verification = Promise.withResolvers<Verification>();
    const { verifier } = fakeVerifier(() => verification.promise);
    const { ask } = authenticating({ ...verifier, asksUpstream: true });
    const first = await ask(basic('alice'), { level: 'report' });
    expect(first.trace).toMatchObject({ outcome: 'skipped', reason: 'verification_pending', principal: 'unverified' });
    verification.resolve({ kind: 'valid' });
    await verification.promise;
    const later = ask(basic('alice'), { level: 'enforce' });
    expect((await later).principal.kind).toBe('verified');
    expect((await ask(basic('alice'), { level: 'report' })).principal.kind).toBe('verified');
  });

  it('survives a failing verifier', async () => {
    const { verifier } = fakeVerifier(() => Promise.reject(new Error('bug')));
    const { trace } = await authenticating(verifier).ask(basic('alice'), { level: 'report' });
    expect(trace).toMatchObject({ outcome: 'reported', reason: 'internal_error' });
    const remote = authenticating({ ...verifier, asksUpstream: true });
    await expect(remote.ask(basic('alice'), { level: 'report' })).resolves.toBeDefined();
  });
});

describe('authentication that is off', () => {
  it('verifies nothing and trusts nothing', async () => {
    const { verifier, asked } = fakeVerifier();
    const { principal, trace } = await authenticating(verifier).ask(basic('alice'), { level: 'off' });
    expect(principal).toMatchObject({ kind: 'unverified', name: 'alice' });
    expect(trace).toEqual({ level: 'off', outcome: 'skipped', principal: 'unverified', reason: 'off' });
    expect(asked).toEqual([]);
  });
});

/**
 * Returns the caller's authentication, the error code of the refusal, or `asked` if the result depends on the verifier.
 */
function decidedAtOnce(
  askNow: ReturnType<typeof authenticating>['askNow'],
  header: string | undefined,
  input: Partial<AuthenticationInput> = {},
) {
  try {
    const result = askNow(header, input);
    if (!(result instanceof Promise)) return result;
    result.catch(() => undefined);
    return 'asked';
  } catch (error) {
    return error instanceof GatewayError ? error.code : error;
  }
}

const remembered = async (options: Parameters<typeof authenticating>[1] = {}) => {
  const { verifier, asked } = fakeVerifier();
  const made = authenticating(verifier, options);
  const first = await made.ask(basic('alice'));
  const decide = (header: string | undefined, input?: Partial<AuthenticationInput>) =>
    decidedAtOnce(made.askNow, header, input);
  return { ...made, asked, first, decide };
};
const ALICE = { principal: { kind: 'verified', name: 'alice', authorization: basic('alice') } };

describe('a recently verified caller', () => {
  it('is recognized synchronously, with the same principal and the same trace', async () => {
    const { first, decide, asked } = await remembered();
    expect(decide(basic('alice'))).toEqual(first);
    expect(decide(basic('alice'), { level: 'report' })).toEqual({
      principal: first.principal,
      trace: { ...first.trace, level: 'report' },
    });
    expect(asked).toHaveLength(1);
  });

  it('has another audience with a token or cookie besides the credential', async () => {
    const { first, decide } = await remembered();
    const other = decide(basic('alice'), { otherCredential: 'token-1' });
    expect(other).toMatchObject(ALICE);
    expect(other).not.toMatchObject({ principal: { audience: first.principal.audience } });
  });

  it.each([
    ['another spelling of the scheme', basic('alice').replace('Basic', 'basic')],
    ['more spaces', basic('alice').replace(' ', '  ')],
    ['a trailing space', `${basic('alice')} `],
    ['missing padding', basic('alice').replaceAll('=', '')],
  ])('is recognized with %s', async (_with, header) => {
    const { first, decide, asked } = await remembered();
    expect(decide(header)).toEqual(first);
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['another password', basic('alice', 'alicf'), 'asked'],
    ['another name', basic('alicf', 'alice'), 'asked'],
    ['a longer text', `${basic('alice')}A`, 'credentials_refused'],
    ['nothing after the scheme', 'Basic ', 'credentials_refused'],
    ['an empty header', '', 'credentials_refused'],
    ['an overlong header', `${basic('alice')}${'='.repeat(5000)}`, 'credentials_refused'],
    ['another scheme', 'Bearer x', 'credentials_refused'],
  ])('is not recognized with %s', async (_with, header, outcome) => {
    const { decide } = await remembered();
    expect(decide(header)).toBe(outcome);
  });

  // The attack: a client sends a credential that almost equals the verified one. A loose comparison would accept it.
  it('is found only by a header with exactly the same name and password', async () => {
    const { decide, first } = await remembered();
    const right = basic('alice');
    const bent = fc
      .tuple(fc.nat(right.length - 1), fc.constantFrom('A', 'B', 'a', 'b', '0', '1', '+', '/', '=', ' '))
      .map(([at, character]) => right.slice(0, at) + character + right.slice(at + 1));
    fc.assert(
      fc.property(bent, (header) => {
        const found = decide(header);
        if (header === right) expect(found).toEqual(first);
        if (typeof found === 'string') return;
        expect(found).toEqual(first);
        expect(Buffer.from(header.replace(/^ *basic */i, ''), 'base64').toString()).toBe('alice:alice');
      }),
      { numRuns: 300 },
    );
  });

  it('is recognized until its time is over, to the millisecond, and again after another verification', async () => {
    const { decide, ask } = await remembered({ cacheSeconds: 60 });
    expect(decide(basic('alice'), { now: START + 59_999 })).toMatchObject(ALICE);
    expect(decide(basic('alice'), { now: START + 60_000 })).toBe('asked');
    await ask(basic('alice'), { now: START + 60_000 });
    expect(decide(basic('alice'), { now: START + 60_000 })).toMatchObject(ALICE);
  });

  it('is verified each time if nothing is remembered', async () => {
    const { decide } = await remembered({ cacheSeconds: 0 });
    expect(decide(basic('alice'))).toBe('asked');
  });

  it('is forgotten with its credential, and with all others if the verifier becomes unusable', async () => {
    const { verifier } = fakeVerifier();
    const { authenticator, ask, askNow } = authenticating({
      ...verifier,
      calibrate: () =>
        Promise.resolve({ kind: 'unusable', fault: { source: 'probe', pointer: '', message: 'lets everybody in' } }),
    });
    await ask(basic('alice'));
    await ask(basic('bob'));
    authenticator.forget({ kind: 'verified', name: 'alice', authorization: basic('alice') });
    expect(decidedAtOnce(askNow, basic('bob'))).toMatchObject({ principal: { name: 'bob' } });
    expect(decidedAtOnce(askNow, basic('alice'))).toBe('asked');
    await authenticator.calibrate();
    expect(decidedAtOnce(askNow, basic('bob'))).toBe('asked');
  });

  it('is forgotten if the verifier refuses it later', async () => {
    let known = true;
    const { verifier } = fakeVerifier(() => ({ kind: known ? 'valid' : 'invalid' }));
    const { ask, askNow } = authenticating(verifier, { cacheSeconds: 60 });
    await ask(basic('alice'));
    known = false;
    await refusalOf(ask(basic('alice'), { now: START + 60_000 }));
    expect(decidedAtOnce(askNow, basic('alice'))).toBe('asked');
  });

  it('is not recognized if authentication is off', async () => {
    const { decide } = await remembered({ anonymous: 'allow' });
    expect(decide(basic('alice'), { level: 'off' })).toMatchObject({ principal: { kind: 'unverified' } });
    expect(decide(undefined, { level: 'off' })).toMatchObject({ trace: { outcome: 'skipped' } });
  });
});

describe('the synchronous decision', () => {
  it('covers a caller without a credential, admitted or not', async () => {
    const open = await remembered({ anonymous: 'allow' });
    for (const level of ['enforce', 'report'] as const)
      expect(open.decide(undefined, { level })).toEqual({
        principal: ANONYMOUS,
        trace: { level, outcome: 'passed', principal: 'anonymous' },
      });
    expect(open.decide(undefined, { needsCredential: true })).toBe('credentials_required');
    const closed = await remembered();
    expect(closed.decide(undefined)).toBe('credentials_required');
    expect(closed.decide(undefined, { level: 'report' })).toMatchObject({ trace: { outcome: 'reported' } });
  });

  // Behind a proxy, determining the client's address takes time, and serving a stored page does not require it.
  it("does not read the client's address", async () => {
    const { decide } = await remembered();
    const clientAddress = () => {
      throw new Error('was read');
    };
    expect(decide(basic('alice'), { clientAddress })).toMatchObject(ALICE);
    expect(decide('Bearer x', { clientAddress })).toBe('credentials_refused');
    expect(decide(undefined, { clientAddress })).toBe('credentials_required');
  });
});

/** A verifier of tokens, which name their callers only once they are verified. */
const TOKENS: Verifier = {
  asksUpstream: false,
  scheme: {
    name: 'Bearer',
    read(header) {
      const [, token] = /^ *bearer +(\S*)$/i.exec(header) ?? [];
      if (token === undefined) return undefined;
      return token === '' ? 'malformed' : { authorization: `Bearer ${token}`, name: undefined };
    },
    challenge: (realm, refused) =>
      `Bearer realm="${realm}"${refused === undefined ? '' : `, error="${refused === 'invalid' ? 'invalid_token' : 'invalid_request'}"`}`,
  },
  verify: ({ authorization }) =>
    Promise.resolve(authorization === 'Bearer good' ? { kind: 'valid', name: 'robot' } : { kind: 'invalid' }),
  calibrate: () => Promise.resolve({ kind: 'calibrated' }),
};

describe('several verifiers', () => {
  it('each decide about the credentials of their scheme', async () => {
    const { verifier, asked } = fakeVerifier();
    const { ask } = authenticating([verifier, TOKENS]);
    expect((await ask('bearer  good')).principal).toMatchObject({
      kind: 'verified',
      name: 'robot',
      authorization: 'Bearer good',
    });
    expect((await ask(basic('alice'))).principal).toMatchObject({ kind: 'verified', name: 'alice' });
    expect(asked).toHaveLength(1);
  });

  it('are asked in their order: the first that knows the scheme decides, and no other admits what it refuses', async () => {
    const later: Verifier = { ...TOKENS, verify: () => Promise.resolve({ kind: 'valid', name: 'intruder' }) };
    const { ask } = authenticating([TOKENS, later]);
    expect((await ask('Bearer good')).principal).toMatchObject({ name: 'robot' });
    for (const header of ['Bearer bad', 'Bearer '])
      expect(await refusalOf(ask(header))).toMatchObject({ code: 'credentials_refused' });
    const broken: Verifier = { ...TOKENS, verify: () => Promise.reject(new Error('broken')) };
    await expect(authenticating([broken, later]).ask('Bearer good')).rejects.toThrow('broken');
  });

  it('refuse a credential of their scheme that none of them reads as malformed', async () => {
    const picky: Verifier = { ...TOKENS, scheme: { ...TOKENS.scheme, read: () => undefined } };
    const { ask } = authenticating([picky, fakeVerifier().verifier]);
    for (const header of ['Bearer x', ' bearer x', 'Bearer']) {
      const { message, headers } = await refusalOf(ask(header));
      expect([message, headers['WWW-Authenticate']]).toEqual([
        'The Authorization header does not contain a valid Bearer credential.',
        `Bearer realm="Portico", error="invalid_request", ${CHALLENGE}`,
      ]);
    }
  });

  it('remember the caller of a token', async () => {
    const verify = vi.fn(TOKENS.verify);
    const { ask, askNow } = authenticating([{ ...TOKENS, verify }]);
    await ask('Bearer good');
    for (const header of ['Bearer good', 'bearer good'])
      expect(askNow(header)).toMatchObject({ principal: { kind: 'verified', name: 'robot' } });
    expect(verify).toHaveBeenCalledTimes(1);
  });

  it('challenge with all schemes, and say what is wrong with the credential of one', async () => {
    const { ask } = authenticating([fakeVerifier().verifier, TOKENS]);
    const wordsOf = async (header: string | undefined) => {
      const { code, message, headers } = await refusalOf(ask(header));
      return [code, message, headers['WWW-Authenticate']];
    };
    expect(await wordsOf(undefined)).toEqual([
      'credentials_required',
      'This request requires a credential.',
      `${CHALLENGE}, Bearer realm="Portico"`,
    ]);
    expect(await wordsOf('Bearer bad')).toEqual([
      'credentials_refused',
      'The credential was refused.',
      `${CHALLENGE}, Bearer realm="Portico", error="invalid_token"`,
    ]);
    expect(await wordsOf('Bearer ')).toEqual([
      'credentials_refused',
      'The Authorization header does not contain a valid Bearer credential.',
      `${CHALLENGE}, Bearer realm="Portico", error="invalid_request"`,
    ]);
    expect(await wordsOf('Digest x')).toEqual([
      'credentials_refused',
      'Only the schemes Basic and Bearer are accepted in the Authorization header.',
      `${CHALLENGE}, Bearer realm="Portico"`,
    ]);
    expect(await wordsOf(basic('alice', 'wrong'))).toMatchObject({ 2: `${CHALLENGE}, Bearer realm="Portico"` });
  });

  it('limit the failed attempts of a network with tokens, and those of no other network', async () => {
    const limit = 2;
    const { ask } = authenticating(TOKENS, { failures: { ...IDENTITY_DEFAULTS.failures, limit, limitPerName: limit } });
    const attempt = async (token: string, address: string) =>
      (await refusalOf(ask(`Bearer ${token}`, { clientAddress: () => address }))).code;
    expect([await attempt('1', '192.0.2.1'), await attempt('2', '192.0.2.1'), await attempt('3', '192.0.2.1')]).toEqual(
      ['credentials_refused', 'credentials_refused', 'too_many_attempts'],
    );
    expect(await attempt('4', '192.0.2.9')).toBe('credentials_refused');
  });

  it('limit the failed attempts of a network with each of the tokens that it claims to have', async () => {
    const limit = 2;
    const claiming: Verifier = {
      ...TOKENS,
      scheme: {
        ...TOKENS.scheme,
        read: (header) => ({ authorization: header, name: undefined, claim: `token:${header.at(-1) ?? ''}` }),
      },
    };
    const { ask } = authenticating(claiming, {
      failures: { ...IDENTITY_DEFAULTS.failures, limit, limitPerName: limit },
    });
    const attempt = async (token: string, address = '192.0.2.1') =>
      (await refusalOf(ask(`Bearer ${token}`, { clientAddress: () => address }))).code;
    expect([await attempt('1a'), await attempt('2a'), await attempt('3a'), await attempt('4b')]).toEqual([
      'credentials_refused',
      'credentials_refused',
      'too_many_attempts',
      'credentials_refused',
    ]);
    // However many networks try the same token, others can still use it.
    for (const address of ['198.51.100.1', '198.51.100.2', '198.51.100.3'])
      expect(await attempt('5a', address)).toBe('credentials_refused');
  });

  it('say how a caller is refused whose token grants too little, at once and when it is remembered', async () => {
    const access = { id: 'token 1' };
    const limited: Verifier = {
      ...TOKENS,
      scheme: { ...TOKENS.scheme, insufficient: (realm) => `Bearer realm="${realm}", error="insufficient_scope"` },
      verify: () => Promise.resolve({ kind: 'valid', name: 'robot', access }),
    };
    const { ask } = authenticating([limited, fakeVerifier().verifier]);
    for (let count = 0; count < 2; count += 1)
      expect((await ask('Bearer good')).principal.scopeChallenge).toBe(
        'Bearer realm="Portico", error="insufficient_scope"',
      );
    for (let count = 0; count < 2; count += 1)
      expect((await ask(basic('alice'))).principal.scopeChallenge).toBeUndefined();
  });

  it('report other schemes as such', async () => {
    const { ask } = authenticating([fakeVerifier().verifier, TOKENS]);
    const reasonOf = async (header: string) => (await ask(header, { level: 'report' })).trace.reason;
    expect(await reasonOf('Digest x')).toBe('not_basic');
    expect(await reasonOf('Bearer bad')).toBe('credentials_refused');
  });

  it('are calibrated only if each of them is', async () => {
    const unusable: Verifier = {
      ...TOKENS,
      calibrate: () =>
        Promise.resolve({ kind: 'unusable', fault: { source: 'configuration', pointer: '', message: 'no' } }),
    };
    const { authenticator } = authenticating([fakeVerifier().verifier, unusable]);
    expect((await authenticator.calibrate()).kind).toBe('unusable');
    const pending: Verifier = { ...TOKENS, calibrate: () => Promise.resolve({ kind: 'pending', cause: undefined }) };
    expect((await authenticating([fakeVerifier().verifier, pending]).authenticator.calibrate()).kind).toBe('pending');
    expect((await authenticating([pending, unusable]).authenticator.calibrate()).kind).toBe('unusable');
    expect((await authenticating([fakeVerifier().verifier, TOKENS]).authenticator.calibrate()).kind).toBe('calibrated');
  });

  it('never accept a caller without a name', async () => {
    const nameless: Verifier = { ...TOKENS, verify: () => Promise.resolve({ kind: 'valid' }) };
    await expect(authenticating(nameless).ask('Bearer good')).rejects.toThrow(/does not name the caller/);
  });
});

describe('a verifier that precedes the others', () => {
  const ask = (authenticator: Pick<Authenticator, 'authenticate'>, authorizationHeader: string) =>
    Promise.resolve(
      authenticator.authenticate({
        authorizationHeader,
        otherCredential: undefined,
        clientAddress: () => '192.0.2.1',
        level: 'enforce',
        needsCredential: true,
        needsVerification: true,
        now: START,
      }),
    );
  const access = { id: 'card' };
  const cards = () => fakeVerifier(() => ({ kind: 'valid', access })).verifier;

  it('no longer counts once it is not asked any more, although the memory is the same', async () => {
    const { authenticator } = authenticating(fakeVerifier().verifier);
    const card = basic('alice', 'card');
    const before = authenticator.precededBy([cards()]);
    expect((await ask(before, card)).principal).toMatchObject({ kind: 'verified', name: 'alice', access });
    expect((await ask(before, card)).principal).toMatchObject({ kind: 'verified', access });
    await expect(refusalOf(ask(authenticator, card))).resolves.toMatchObject({ code: 'credentials_refused' });
  });

  it('must state the access of a credential that it withholds', async () => {
    const { authenticator } = authenticating(fakeVerifier().verifier);
    const verifier = { ...fakeVerifier(() => ({ kind: 'valid' })).verifier, withheld: true as const };
    await expect(ask(authenticator.precededBy([verifier]), basic('alice'))).rejects.toThrow(/does not state/);
  });

  it('has audiences that no name can imitate', async () => {
    const { authenticator } = authenticating(fakeVerifier().verifier);
    const { audience } = (await ask(authenticator.precededBy([cards()]), basic('alice', 'card'))).principal;
    for (const name of ['alice;card', 'access:4:card:alice', '4:card:alice'])
      expect((await ask(authenticator, basic(name.replaceAll(':', ';')))).principal.audience).not.toBe(audience);
    expect(audience).toBe('caller:verified:access:4:card:alice');
  });

  it('keeps a card, and the password that it stands for, when the upstream refuses that password', async () => {
    const passwords = fakeVerifier();
    const { authenticator } = authenticating(passwords.verifier);
    const card = fakeVerifier(() => ({ kind: 'valid', access: { id: 'card', authorization: basic('alice') } }));
    await ask(authenticator, basic('alice'));
    const before = authenticator.precededBy([card.verifier]);
    const { principal } = await ask(before, basic('alice', 'card'));
    before.forget(principal);
    await ask(before, basic('alice', 'card'));
    await ask(authenticator, basic('alice'));
    expect([card.asked.length, passwords.asked.length]).toEqual([1, 1]);
  });
});
