import { describe, expect, it } from 'vitest';
import type { ItemsAt } from '../../src/model/operation.ts';
import { authorsOf } from '../../src/pipeline/learn-authors.ts';
import { operationWith } from '../builders/exchange.ts';

const node = (id: unknown, username: unknown) => ({ id, activeRevisionId: 1, author: { username } });

function learned(json: unknown, itemsAt: ItemsAt = 'list'): Record<string, string> {
  return Object.fromEntries(authorsOf(operationWith({ itemsAt }), json));
}

describe('authors', () => {
  it.each([
    ['list', { list: [node(1, 'alice'), node('2', 'bob')] }],
    ['elements', [node(1, 'alice'), node('2', 'bob')]],
  ] as const)('are learned from %s', (itemsAt, json) => {
    expect(learned(json, itemsAt)).toEqual({ 1: 'alice', 2: 'bob' });
  });

  it('are learned from a body that is a node', () => {
    expect(learned(node(1, 'alice'), 'body')).toEqual({ 1: 'alice' });
  });

  it('are not learned from topics and users, whose ids are of other pools', () => {
    expect(learned({ list: [{ id: 1, author: { username: 'alice' } }] })).toEqual({});
  });

  it('are not learned of ids that JSON has rounded, nor without a name', () => {
    expect(learned({ list: [node(2 ** 53, 'alice'), node(1, undefined), node(undefined, 'alice'), null] })).toEqual({});
  });

  it('are not learned from answers of another form', () => {
    expect(learned({ error: 'x' })).toEqual({});
    expect(learned(undefined)).toEqual({});
  });
});
