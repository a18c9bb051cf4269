import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuthenticationInput } from '../../src/identity/authenticator.ts';
import type { Verification } from '../../src/identity/verifier.ts';
import { ANONYMOUS } from '../../src/model/principal.ts';
import { authenticating, basic, fakeVerifier, refusalOf, START } from './identity-fixtures.ts';

const CHALLENGE = 'Basic realm="Portico", charset="UTF-8"';

describe('a credential under enforce (rules, 2)', () => {
  it('makes a verified principal whose audience and authorization are the same however it was spelled', async () => {
    const { ask } = authenticating(fakeVerifier().verifier);
    const plain = await ask(basic('alice'));
    const odd = await ask(basic('alice').replace('Basic ', 'bAsIc   '));
    expect(plain.principal).toEqual({
      kind: 'verified',
      name: 'alice',
      audience: 'user:alice',
      authorization: basic('alice'),
    });
    expect(odd.principal).toEqual(plain.principal);
    expect(plain.trace).toEqual({ level: 'enforce', outcome: 'passed', principal: 'verified' });
  });

  it('is refused with 401 and a challenge when the verifier refuses it', async () => {
    const error = await refusalOf(authenticating(fakeVerifier().verifier).ask(basic('alice', 'wrong')));
    expect(error).toMatchObject({ code: 'credentials_refused', status: 401 });
    expect(error.headers).toEqual({ 'WWW-Authenticate': CHALLENGE });
  });

  it.each([
    ['an empty name', basic('', 'x')],
    ['another scheme', 'Bearer abc'],
    ['no base64', 'Basic ***'],
    ['no colon', `Basic ${Buffer.from('alice').toString('base64')}`],
    ['an empty header', ''],
    ['bytes that are not UTF-8', `Basic ${Buffer.from([0x6a, 0xf6, 0x3a, 0x78]).toString('base64')}`],
    ['a control character in the name', basic('al\u0000ice', 'x')],
    ['a control character in the password', basic('alice', 'x\u0007')],
    ['an overlong name', basic('a'.repeat(300), 'x')],
    ['an overlong header', basic('alice', 'x'.repeat(8000))],
  ])('is refused unasked for %s', async (_, header) => {
    const { verifier, asked } = fakeVerifier(() => ({ kind: 'valid' }));
    const error = await refusalOf(authenticating(verifier).ask(header));
    expect(error).toMatchObject({ code: 'credentials_refused', headers: { 'WWW-Authenticate': CHALLENGE } });
    expect(asked).toEqual([]);
  });

  it('may hold any other text in name and password', async () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      .filter((s) => !/[\p{Cc}\u{FFFD}]/u.test(s));
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

  it('gets 503 and Retry-After, never 401, when nobody can verify it', async () => {
    const away: Verification = { kind: 'unavailable', retryAfterSeconds: 7, unusable: false };
    const error = await refusalOf(authenticating(fakeVerifier(() => away).verifier).ask(basic('alice')));
    expect(error).toMatchObject({ code: 'verification_unavailable', status: 503, headers: { 'Retry-After': '7' } });
  });

  // Retry-After: 0 makes clients come back at once, all of them, while there is still too much to do.
  it.each([0, 0.2])(
    'gets 429 and a Retry-After of a second at least when too much hashing waits (%d s)',
    async (wait) => {
      const busy: Verification = { kind: 'busy', retryAfterSeconds: wait };
      const error = await refusalOf(authenticating(fakeVerifier(() => busy).verifier).ask(basic('alice')));
      expect(error).toMatchObject({ code: 'too_many_attempts', status: 429, headers: { 'Retry-After': '1' } });
    },
  );

  it('is refused when the verifier breaks', async () => {
    const { verifier } = fakeVerifier(() => Promise.reject(new Error('bug')));
    await expect(authenticating(verifier).ask(basic('alice'))).rejects.toThrow('bug');
  });

  it('never shows in an error', async () => {
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

describe('a caller without a credential (rules, 2)', () => {
  const { verifier } = fakeVerifier();

  it('is refused with 401 and a challenge by default', async () => {
    const error = await refusalOf(authenticating(verifier).ask(undefined));
    expect(error).toMatchObject({
      code: 'credentials_required',
      status: 401,
      headers: { 'WWW-Authenticate': CHALLENGE },
    });
  });

  it('is the anonymous principal where anonymous callers are allowed', async () => {
    const { principal } = await authenticating(verifier, { anonymous: 'allow' }).ask(undefined);
    expect(principal).toBe(ANONYMOUS);
  });

  it('is refused even then where the operation needs a credential', async () => {
    const asking = authenticating(verifier, { anonymous: 'allow' }).ask(undefined, { needsCredential: true });
    await expect(refusalOf(asking)).resolves.toMatchObject({ code: 'credentials_required' });
  });

  it('is not let in by a wrong credential where anonymous callers are allowed', async () => {
    const asking = authenticating(verifier, { anonymous: 'allow' }).ask(basic('alice', 'wrong'));
    await expect(refusalOf(asking)).resolves.toMatchObject({ code: 'credentials_refused' });
  });

  it('is never refused under report, and the trace says what would have been', async () => {
    const { principal, trace } = await authenticating(verifier).ask(undefined, { level: 'report' });
    expect(principal).toBe(ANONYMOUS);
    expect(trace).toMatchObject({ outcome: 'reported', reason: 'credentials_required', principal: 'anonymous' });
  });

  it('escapes the realm of the challenge', async () => {
    const error = await refusalOf(authenticating(verifier, { realm: 'a"b\\c' }).ask(undefined));
    expect(error.headers['WWW-Authenticate']).toBe(String.raw`Basic realm="a\"b\\c", charset="UTF-8"`);
  });
});

describe('authentication at report (rules, 2)', () => {
  it.each([
    ['a wrong password', basic('alice', 'wrong'), 'alice', 'credentials_refused'],
    ['a bearer token', 'Bearer abc', undefined, 'not_basic'],
    ['a malformed credential', 'Basic ***', undefined, 'credentials_refused'],
    ['an overlong one', basic('alice', 'x'.repeat(8000)), undefined, 'credentials_refused'],
  ])('lets %s pass as an unverified principal', async (_, header, name, reason) => {
    const { principal, trace } = await authenticating(fakeVerifier().verifier).ask(header, { level: 'report' });
    expect(principal).toMatchObject({ kind: 'unverified', name, authorization: header });
    expect(trace).toEqual({ level: 'report', outcome: 'reported', principal: 'unverified', reason });
  });

  it('tells unverified callers apart by a keyed hash that holds nothing of the credential', async () => {
    const { ask } = authenticating(fakeVerifier().verifier);
    const headers = [basic('alice', 'wrong'), basic('alice', 'wrong2'), 'Bearer abc', 'Bearer abd'];
    const audiences = await Promise.all(
      headers.map(async (one) => (await ask(one, { level: 'report' })).principal.audience),
    );
    expect(new Set(audiences).size).toBe(4);
    for (const audience of audiences) expect(audience).toMatch(/^unverified:[\w-]{43}$/);
    const elsewhere = await authenticating(fakeVerifier().verifier).ask(headers[0], { level: 'report' });
    expect(audiences).not.toContain(elsewhere.principal.audience);
  });

  it('tells callers apart by a token that is sent another way', async () => {
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
    const { principal } = await ask(undefined, { level: 'report', otherCredential: 'token-1' });
    expect(principal).toMatchObject({ kind: 'unverified', name: undefined });
  });

  it('does not wait for the upstream, and uses what the background verification found', async () => {
    const answer = Promise.withResolvers<Verification>();
    const { verifier } = fakeVerifier(() => answer.promise);
    const { ask } = authenticating({ ...verifier, kind: 'upstream' });
    const first = await ask(basic('alice'), { level: 'report' });
    expect(first.trace).toMatchObject({ outcome: 'skipped', reason: 'verification_pending', principal: 'unverified' });
    answer.resolve({ kind: 'valid' });
    await answer.promise;
    const later = ask(basic('alice'), { level: 'enforce' });
    expect((await later).principal.kind).toBe('verified');
    expect((await ask(basic('alice'), { level: 'report' })).principal.kind).toBe('verified');
  });

  it('survives a broken verifier', async () => {
    const { verifier } = fakeVerifier(() => Promise.reject(new Error('bug')));
    const { trace } = await authenticating(verifier).ask(basic('alice'), { level: 'report' });
    expect(trace).toMatchObject({ outcome: 'reported', reason: 'internal_error' });
    const remote = authenticating({ ...verifier, kind: 'upstream' });
    await expect(remote.ask(basic('alice'), { level: 'report' })).resolves.toBeDefined();
  });
});

describe('authentication that is off', () => {
  it('verifies nothing and believes nothing', async () => {
    const { verifier, asked } = fakeVerifier();
    const { principal, trace } = await authenticating(verifier).ask(basic('alice'), { level: 'off' });
    expect(principal).toMatchObject({ kind: 'unverified', name: 'alice' });
    expect(trace).toMatchObject({ outcome: 'skipped', principal: 'unverified' });
    expect(asked).toEqual([]);
  });
});

const remembered = async (options: Parameters<typeof authenticating>[1] = {}, header = basic('alice')) => {
  const { verifier, asked } = fakeVerifier();
  const made = authenticating(verifier, options);
  await made.ask(header);
  const recall = (authorizationHeader: string | undefined, input: Partial<AuthenticationInput> = {}) =>
    made.authenticator.recall({ authorizationHeader, level: 'enforce', now: START, ...input });
  return { ...made, asked, recall };
};
describe('a caller who is known without a question', () => {
  it('is the same as for whoever asks, with the same trace', async () => {
    for (const level of ['enforce', 'report'] as const) {
      const { ask, recall } = await remembered();
      expect(recall(basic('alice'), { level })).toEqual(await ask(basic('alice'), { level }));
    }
  });

  it('is asked of nobody, and counts nothing', async () => {
    const { recall, asked, verifications } = await remembered();
    const before = [asked.length, verifications.length];
    for (const header of [basic('alice'), basic('alice', 'wrong'), basic('bob'), undefined, 'Bearer x']) recall(header);
    expect([asked.length, verifications.length]).toEqual(before);
  });

  it.each([
    ['another password', basic('alice', 'alicf')],
    ['another name', basic('alicf', 'alice')],
    ['another spelling of the scheme', basic('alice').replace('Basic', 'basic')],
    ['more spaces', basic('alice').replace(' ', '  ')],
    ['a space at the end', `${basic('alice')} `],
    ['no padding', basic('alice').replaceAll('=', '')],
    ['a longer text', `${basic('alice')}A`],
    ['nothing behind the scheme', 'Basic '],
    ['an empty field', ''],
    ['an overlong field', `${basic('alice')}${'='.repeat(5000)}`],
  ])('is nobody with %s', async (_with, header) => {
    const { recall } = await remembered();
    expect(recall(basic('alice'))).toBeDefined();
    expect(recall(header)).toBeUndefined();
  });

  it('is nobody with any field but the very one that was verified', async () => {
    const { recall } = await remembered();
    const right = basic('alice');
    const bent = fc
      .tuple(fc.nat(right.length - 1), fc.constantFrom('A', 'B', 'a', 'b', '0', '1', '+', '/', '=', ' '))
      .map(([at, character]) => right.slice(0, at) + character + right.slice(at + 1));
    fc.assert(
      fc.property(bent, (header) => {
        expect(recall(header) !== undefined).toBe(header === right);
      }),
      { numRuns: 300 },
    );
  });

  it('is known until its time is over, to the millisecond, and again after it was verified anew', async () => {
    const { recall, ask } = await remembered({ cacheSeconds: 60 });
    expect(recall(basic('alice'), { now: START + 59_999 })).toBeDefined();
    expect(recall(basic('alice'), { now: START + 60_000 })).toBeUndefined();
    await ask(basic('alice'), { now: START + 60_000 });
    expect(recall(basic('alice'), { now: START + 60_000 })).toBeDefined();
  });

  it('is never known where nothing is remembered', async () => {
    const { recall } = await remembered({ cacheSeconds: 0 });
    expect(recall(basic('alice'))).toBeUndefined();
  });

  it('is forgotten with its credential, and with all others when the verifier is of no use', async () => {
    const { verifier } = fakeVerifier();
    const { authenticator, ask } = authenticating({
      ...verifier,
      calibrate: () =>
        Promise.resolve({ kind: 'unusable', fault: { source: 'probe', pointer: '', message: 'lets everybody in' } }),
    });
    const recall = (name: string) =>
      authenticator.recall({ authorizationHeader: basic(name), level: 'enforce', now: START });
    await ask(basic('alice'));
    await ask(basic('bob'));
    authenticator.forget({ authorization: basic('alice') });
    expect([recall('alice'), recall('bob')?.principal.name]).toEqual([undefined, 'bob']);
    await authenticator.calibrate();
    expect(recall('bob')).toBeUndefined();
  });

  it('is forgotten when the verifier refuses it later', async () => {
    let known = true;
    const { verifier } = fakeVerifier(() => ({ kind: known ? 'valid' : 'invalid' }));
    const { authenticator, ask } = authenticating(verifier, { cacheSeconds: 60 });
    await ask(basic('alice'));
    known = false;
    await refusalOf(ask(basic('alice'), { now: START + 60_000 }));
    expect(authenticator.recall({ authorizationHeader: basic('alice'), level: 'enforce', now: START })).toBeUndefined();
  });

  it('is anonymous without a credential only where that is allowed', async () => {
    const open = await remembered({ anonymous: 'allow' });
    expect(open.recall(undefined)).toEqual(await open.ask(undefined));
    expect(open.recall(undefined, { level: 'report' })).toEqual(await open.ask(undefined, { level: 'report' }));
    expect(open.recall(undefined, { needsCredential: true })).toBeUndefined();
    const closed = await remembered();
    for (const level of ['enforce', 'report'] as const) expect(closed.recall(undefined, { level })).toBeUndefined();
  });

  it('is nobody where authentication is off', async () => {
    const { recall } = await remembered({ anonymous: 'allow' });
    for (const header of [basic('alice'), undefined]) expect(recall(header, { level: 'off' })).toBeUndefined();
  });
});
