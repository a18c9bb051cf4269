import { describe, expect, it } from 'vitest';
import type { ItemsAt } from '../../src/model/operation.ts';
import { bodyFactsOf } from '../../src/pipeline/reply.ts';
import { kept, operationWith, pageOf, plannedWith } from '../builders/exchange.ts';

const factsOf = (json: unknown, itemsAt: ItemsAt = 'list') =>
  bodyFactsOf({ operation: operationWith({ itemsAt }), cache: kept() }, json);

describe('what a body shows', () => {
  it('is its outer form, its page count and its items', () => {
    expect(factsOf(pageOf([1, 2]))).toEqual({
      isJson: true,
      isOuterForm: true,
      hasTopLevelError: false,
      pageCount: 3,
      tags: ['node:1', 'node:2'],
    });
  });

  it('has no items where nothing is kept', () => {
    expect(bodyFactsOf(plannedWith(), pageOf([1])).tags).toEqual([]);
  });

  it('is nothing for a body that is no JSON', () => {
    expect(factsOf(undefined)).toMatchObject({ isJson: false, isOuterForm: false, hasTopLevelError: false });
  });

  it('knows null for JSON', () => {
    expect(factsOf(null)).toMatchObject({ isJson: true, isOuterForm: false, hasTopLevelError: false });
  });

  it.each([{ error: 'x', list: [] }, { errors: {} }])('tells an error at the top: %j', (json) => {
    expect(factsOf(json)).toMatchObject({ hasTopLevelError: true, pageCount: undefined });
  });
});
