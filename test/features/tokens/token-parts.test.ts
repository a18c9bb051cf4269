import { describe, expect, it } from 'vitest';
import { isInNetworks } from '../../../src/features/tokens/networks.ts';
import { createPasswordSeal } from '../../../src/features/tokens/password-seal.ts';
import { createToken, formatToken, parseToken } from '../../../src/features/tokens/token-format.ts';
import {
  formatTokens,
  hashOf,
  isNetwork,
  matches,
  mergeTokens,
  NO_TOKENS,
  parseTokens,
  type TokenRecord,
} from '../../../src/features/tokens/token-record.ts';
import { DAY_MS } from '../../../src/lib/clock.ts';
import { keyText } from './token-gateway.ts';

const NOW = Date.parse('2026-05-04T12:00:00Z');
const record = (more: Partial<TokenRecord> = {}): TokenRecord => ({
  id: 'a'.repeat(16),
  hash: 'b'.repeat(64),
  caller: 'alice',
  scope: ['View the questions list'],
  createdAt: NOW,
  expiresAt: NOW + 30 * DAY_MS,
  ...more,
});
const only = (...tokens: readonly TokenRecord[]) => ({ tokens });

describe('the text of a token', () => {
  it('can be read again, and nothing else can', () => {
    const token = createToken();
    const text = formatToken(token);
    expect(text).toMatch(/^ptk_[0-9a-f]{16}_[0-9a-f]{48}$/);
    expect(parseToken(text)).toEqual(token);
    // Each single wrong character is noticed.
    for (let at = 0; at < text.length; at += 1) {
      const wrong = text[at] === '1' ? '2' : '1';
      expect(parseToken(text.slice(0, at) + wrong + text.slice(at + 1))).toBeUndefined();
    }
    for (const wrong of [` ${text}`, `${text}\n`, text.slice(1), `${text}0`, '']) expect(parseToken(wrong)).toBeUndefined();
  });

  it('never occurs twice', () => {
    const texts = new Set(Array.from({ length: 1_000 }, () => formatToken(createToken())));
    expect(texts.size).toBe(1_000);
  });
});

describe('the hash of a token', () => {
  it('depends on the key, the secret and everything that the token grants', () => {
    const token = createToken();
    const [key, other] = [keyText('one'), keyText('two')];
    const grant = record({ operations: ['listIdeas'], networks: ['10.0.0.0/8'] });
    const stored = { ...grant, hash: hashOf(key, token, grant).toString('hex') };
    expect(matches([key], token, stored)).toBe(true);
    expect(matches([other, key], token, stored)).toBe(true);
    expect(matches([other], token, stored)).toBe(false);
    expect(matches([key], { ...token, secret: 'c'.repeat(40) }, stored)).toBe(false);
    for (const change of [
      { caller: 'admin' },
      { scope: ['View the questions list', 'View analytics'] },
      { scope: [] },
      { operations: undefined },
      { operations: ['listIdeas', 'listArticles'] },
      { networks: undefined },
      { networks: ['0.0.0.0/0'] },
      { expiresAt: stored.expiresAt + 1 },
    ])
      expect(matches([key], token, { ...stored, ...change })).toBe(false);
    // What may change later is not part of it.
    expect(matches([key], token, { ...stored, note: 'x', lastUsedAt: NOW, retiresAt: NOW })).toBe(true);
  });
});

describe('changes that gateways make to tokens at the same time', () => {
  it('are all kept', () => {
    const [a, b] = [record(), record({ id: 'c'.repeat(16) })];
    expect(mergeTokens(NO_TOKENS, only(a), only(b), NOW).tokens.map(({ id }) => id)).toEqual([a.id, b.id]);
  });

  it.each([
    ['a revocation', { revokedAt: NOW - 1 }],
    ['an earlier end', { retiresAt: NOW + 5 }],
  ])('leave %s in force, whoever made it', (_, change) => {
    const [before, after] = [only(record()), only(record(change))];
    for (const merged of [
      mergeTokens(before, after, before, NOW),
      mergeTokens(before, before, after, NOW),
      mergeTokens(after, after, before, NOW),
      mergeTokens(after, before, after, NOW),
    ])
      expect(merged.tokens).toMatchObject([change]);
  });

  it('keep the latest use', () => {
    const [early, late] = [only(record({ lastUsedAt: NOW })), only(record({ lastUsedAt: NOW + 1 }))];
    for (const merged of [mergeTokens(early, early, late, NOW), mergeTokens(early, late, early, NOW)])
      expect(merged.tokens).toMatchObject([{ lastUsedAt: NOW + 1 }]);
  });

  it('take over a password that was enrolled or removed by one of them', () => {
    const [none, some] = [only(record()), only(record({ sealed: 'c2VhbGVk' }))];
    expect(mergeTokens(none, none, some, NOW).tokens[0]?.sealed).toBe('c2VhbGVk');
    expect(mergeTokens(some, some, none, NOW).tokens[0]?.sealed).toBeUndefined();
    expect(mergeTokens(some, none, some, NOW).tokens[0]?.sealed).toBeUndefined();
  });

  it('drop the password of a token that has ended, and later the token', () => {
    const ended = only(record({ sealed: 'c2VhbGVk' }));
    const end = NOW + 30 * DAY_MS;
    expect(mergeTokens(ended, ended, ended, end - 1).tokens[0]?.sealed).toBe('c2VhbGVk');
    expect(mergeTokens(ended, ended, ended, end).tokens).toMatchObject([{ id: 'a'.repeat(16) }]);
    expect(mergeTokens(ended, ended, ended, end).tokens[0]?.sealed).toBeUndefined();
    expect(mergeTokens(ended, ended, ended, end + 30 * DAY_MS).tokens).toEqual([]);
  });
});

describe('stored tokens', () => {
  const full = record({
    operations: ['listIdeas'],
    networks: ['10.0.0.0/8'],
    note: 'chat bot',
    lastUsedAt: NOW,
    retiresAt: NOW,
    revokedAt: NOW,
    sealed: 'c2VhbGVk',
  });

  it('are read as they were written', () => {
    const state = only(record({ id: '1'.repeat(16) }), full);
    expect(parseTokens(formatTokens(state))).toEqual(state);
  });

  it.each([
    ['version', 'version must be 1'],
    ['id', 'tokens[0].id is not valid'],
    ['hash', 'tokens[0].hash is not valid'],
    ['caller', 'tokens[0].caller is not valid'],
    ['scope', 'tokens[0].scope is not valid'],
    ['operations', 'tokens[0].operations is not valid'],
    ['networks', 'tokens[0].networks is not valid'],
    ['sealed', 'tokens[0].sealed is not valid'],
    ['expiresAt', 'tokens[0].expiresAt must be an instant'],
  ])('are refused if %s is wrong', (name, message) => {
    const text = formatTokens(only(full)).replace(new RegExp(`("${name}": )("[^"]*"|\\[[^\\]]*\\]|\\d+)`), '$1"?"');
    expect(() => parseTokens(text)).toThrow(message);
  });

  it('are refused if an id occurs twice', () => {
    expect(() => parseTokens(formatTokens(only(full, full)))).toThrow('the same id twice');
  });
});

describe('the seal of a password', () => {
  it('is opened only with its key, for its token, and unchanged', () => {
    const seal = createPasswordSeal([keyText('one')]);
    const sealed = seal?.seal('a'.repeat(16), 'pässword') ?? '';
    expect(seal?.open('a'.repeat(16), sealed)).toEqual({ password: 'pässword', isCurrent: true });
    expect(seal?.open('b'.repeat(16), sealed)).toBeUndefined();
    expect(createPasswordSeal([keyText('two')])?.open('a'.repeat(16), sealed)).toBeUndefined();
    const bytes = Buffer.from(sealed, 'base64');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(seal?.open('a'.repeat(16), changed.toString('base64'))).toBeUndefined();
    }
    expect(seal?.open('a'.repeat(16), '')).toBeUndefined();
    expect(seal?.seal('a'.repeat(16), 'pässword')).not.toBe(sealed);
  });

  it('is opened with the previous key, too, and then known not to be current', () => {
    const old = createPasswordSeal([keyText('one')])?.seal('a'.repeat(16), 'x') ?? '';
    const both = createPasswordSeal([keyText('two'), keyText('one')]);
    expect(both?.open('a'.repeat(16), old)).toEqual({ password: 'x', isCurrent: false });
  });

  it('does not exist without a key', () => expect(createPasswordSeal([])).toBeUndefined());
});

describe('the networks of a token', () => {
  it.each([
    ['10.1.2.3', ['10.0.0.0/8'], true],
    ['11.1.2.3', ['10.0.0.0/8'], false],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
    ['::ffff:11.1.2.3', ['10.0.0.0/8'], false],
    ['2001:db8::1', ['192.0.2.1', '2001:db8::/32'], true],
    ['192.0.2.1', ['192.0.2.1', '2001:db8::/32'], true],
    ['192.0.2.2', ['192.0.2.1', '2001:db8::/32'], false],
    ['fe80::1%eth0', ['fe80::/10'], true],
    ['', ['0.0.0.0/0', '::/0'], false],
    ['unknown', ['0.0.0.0/0', '::/0'], false],
  ])('%s in %j: %s', (address, networks, expected) => {
    expect(isInNetworks(address, networks)).toBe(expected);
  });

  it.each(['10.0.0.0/33', '10.0.0/8', '10.0.0.0/', '10.0.0.0/8/8', '2001:db8::/129', 'localhost', '10.0.0.0/-1', ''])(
    'cannot be %s',
    (text) => expect(isNetwork(text)).toBe(false),
  );
});
