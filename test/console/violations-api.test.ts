import { describe, expect, it } from 'vitest';
import { readAcceptRequest } from '../../src/console/violations-api.ts';

const about = { fingerprint: 'f', summary: 's', now: Date.UTC(2026, 4, 4, 12) };
const good = { reason: 'known', owner: 'team', expires: '2026-12-31' };

describe('a request to accept a violation', () => {
  it('becomes an entry in the baseline', () => {
    expect(readAcceptRequest(good, about)).toEqual({ ok: true, accepted: { fingerprint: 'f', summary: 's', ...good } });
  });

  it('may have no last day, or today', () => {
    expect(readAcceptRequest({ ...good, expires: '' }, about)).toMatchObject({ accepted: { expires: undefined } });
    expect(readAcceptRequest({ ...good, expires: null }, about)).toMatchObject({ accepted: { expires: undefined } });
    expect(readAcceptRequest({ ...good, expires: '2026-05-04' }, about)).toMatchObject({ ok: true });
  });

  it('is reduced to one line of text', () => {
    expect(readAcceptRequest({ ...good, reason: '  a\n\tb\u0000c ' }, about)).toMatchObject({
      accepted: { reason: 'a b c' },
    });
  });

  it.each([
    [null, 'reason'],
    [[], 'reason'],
    [{ ...good, reason: ' ' }, 'reason'],
    [{ ...good, reason: 'x'.repeat(501) }, 'reason'],
    [{ ...good, reason: { toString: 'x' } }, 'reason'],
    [{ ...good, owner: '' }, 'owner'],
    [{ ...good, owner: 'x'.repeat(101) }, 'owner'],
    [{ ...good, expires: '2026-05-03' }, 'expires'],
    [{ ...good, expires: '2026-02-30' }, 'expires'],
    [{ ...good, expires: 'tomorrow' }, 'expires'],
    [{ ...good, expires: 29991231 }, 'expires'],
    [{ ...good, expires: ['2999-12-31'] }, 'expires'],
    [{ ...good, expires: false }, 'expires'],
  ])('is refused, naming the field: %j', (body, field) => {
    expect(readAcceptRequest(body, about)).toMatchObject({ ok: false, field });
  });
});
