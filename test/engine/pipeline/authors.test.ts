import { describe, expect, it } from 'vitest';
import type { ItemsAt } from '../../../src/engine/model/operation.ts';
import { authorsOf } from '../../../src/engine/pipeline/authors.ts';
import { plannedWith } from '../../builders/exchange.ts';

describe('authors', () => {
  const node = (id: unknown, username: unknown) => ({ id, activeRevisionId: 1, author: { username } });

  function learned(json: unknown, itemsAt: ItemsAt = 'list'): Record<string, string> {
    return Object.fromEntries(authorsOf(plannedWith({ operation: { itemsAt } }), json));
  }

  it.each([
    ['list', { list: [node(1, 'alice'), node('2', 'bob')] }],
    ['elements', [node(1, 'alice'), node('2', 'bob')]],
  ] as const)('are learned from %s', (itemsAt, json) => {
    expect(learned(json, itemsAt)).toEqual({ 1: 'alice', 2: 'bob' });
  });

  it('are learned from a body that is a single node', () => {
    expect(learned(node(1, 'alice'), 'body')).toEqual({ 1: 'alice' });
  });

  it('are not learned from topics and users, whose ids are from other ranges', () => {
    expect(learned({ list: [{ id: 1, author: { username: 'alice' } }] })).toEqual({});
  });

  it('are not learned from ids that JSON has rounded, nor without a name', () => {
    expect(learned({ list: [node(2 ** 53, 'alice'), node(1, undefined), node(undefined, 'alice'), null] })).toEqual({});
  });

  it('are not learned from responses of another form', () => {
    expect(learned({ error: 'x' })).toEqual({});
    expect(learned(undefined)).toEqual({});
  });
});
