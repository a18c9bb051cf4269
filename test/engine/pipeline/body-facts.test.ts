import { describe, expect, it } from 'vitest';
import type { ItemsAt } from '../../../src/engine/model/operation.ts';
import { bodyFactsOf } from '../../../src/engine/pipeline/body-facts.ts';
import { kept, pageOf, plannedWith } from '../../builders/exchange.ts';

const factsOf = (json: unknown, itemsAt: ItemsAt = 'list') =>
  bodyFactsOf(plannedWith({ operation: { itemsAt }, cache: kept() }), json);

describe('the facts about a body', () => {
  it('are its outer form, its page count and its items', () => {
    expect(factsOf(pageOf([1, 2]))).toEqual({
      isJson: true,
      isOuterForm: true,
      hasTopLevelError: false,
      pageCount: 3,
      tags: ['node:1', 'node:2'],
    });
  });

  it('include no items if the operation is not cached', () => {
    expect(bodyFactsOf(plannedWith(), pageOf([1])).tags).toEqual([]);
  });

  it('are empty for a body that is not JSON', () => {
    expect(factsOf(undefined)).toMatchObject({ isJson: false, isOuterForm: false, hasTopLevelError: false });
  });

  it('accept null as JSON', () => {
    expect(factsOf(null)).toMatchObject({ isJson: true, isOuterForm: false, hasTopLevelError: false });
  });

  it.each([{ error: 'x', list: [] }, { errors: {} }])('include an error at the top level: %j', (json) => {
    expect(factsOf(json)).toMatchObject({ hasTopLevelError: true, pageCount: undefined });
  });
});
