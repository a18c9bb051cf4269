import { describe, expect, it } from 'vitest';
import { pageCountKey, pageKey } from '../../src/pipeline/page-key.ts';
import { type ExchangeParts, exchangeWith, plannedWith } from '../builders/exchange.ts';

const planned = plannedWith();
const keys = (parts: ExchangeParts, version = 'v') => {
  const exchange = exchangeWith(parts);
  return [pageKey(planned, exchange, version), pageCountKey(planned, exchange, version)];
};
const base = { target: '/a?page=2&q=x', audience: 'caller:a' };

describe('the key of a page', () => {
  it('differs by target, audience, operation and contract', () => {
    const [key] = keys(base);
    const others = [
      keys({ ...base, target: '/a?page=3&q=x' })[0],
      keys({ ...base, audience: 'caller:b' })[0],
      keys(base, 'w')[0],
      pageKey(plannedWith({ operation: { id: 'other' } }), exchangeWith(base), 'v'),
    ];
    expect(new Set([key, ...others]).size).toBe(5);
  });
});

describe('the key of a page count', () => {
  it('is the same for each page of a list', () => {
    expect(keys({ ...base, target: '/a?page=3&q=x' })[1]).toBe(keys(base)[1]);
    expect(keys({ ...base, target: '/a?q=x' })[1]).toBe(keys(base)[1]);
  });

  it('differs by filter, audience, operation and contract', () => {
    const [, key] = keys(base);
    const others = [
      keys({ ...base, target: '/a?page=2&q=y' })[1],
      keys({ ...base, audience: 'caller:b' })[1],
      keys(base, 'w')[1],
      pageCountKey(plannedWith({ operation: { id: 'other' } }), exchangeWith(base), 'v'),
    ];
    expect(new Set([key, ...others]).size).toBe(5);
  });
});
