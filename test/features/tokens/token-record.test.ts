import { describe, expect, it } from 'vitest';
import { createToken } from '../../../src/features/tokens/token-format.ts';
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
    const text = formatTokens(only(full)).replace(new RegExp(`("${name}": )("[^"]*"|\\[[^\\]]*\\]|\\d+)`), '$1":"');
    expect(() => parseTokens(text)).toThrow(message);
  });

  it('are refused if an id occurs twice', () => {
    expect(() => parseTokens(formatTokens(only(full, full)))).toThrow('the same id twice');
  });
});

describe('a network of a token', () => {
  it.each(['10.0.0.0/33', '10.0.0/8', '10.0.0.0/', '10.0.0.0/8/8', '2001:db8::/129', 'localhost', '10.0.0.0/-1', ''])(
    'cannot be %s',
    (text) => expect(isNetwork(text)).toBe(false),
  );
});
