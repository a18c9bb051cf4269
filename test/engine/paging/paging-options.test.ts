import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_PAGING_OPTIONS,
  operationPagingSchema,
  pagingOptionsSchema,
  toPagingOptions,
} from '../../../src/engine/paging/paging-options.ts';

describe('paging options', () => {
  it('allow pages of 100 by default', () => {
    expect(toPagingOptions().maxPageSize).toBe(100);
  });

  it("let an operation's own maximum override the global one", () => {
    expect(toPagingOptions({ maxPageSize: 50, maxAgeSeconds: 5 }, { maxPageSize: 200 })).toMatchObject({
      maxPageSize: 200,
      maxAgeSeconds: 5,
    });
  });

  it('have schemas that accept every key and refuse unknown ones', () => {
    const ajv = new Ajv2020({ strict: true });
    const global = ajv.compile(pagingOptionsSchema);
    const own = ajv.compile(operationPagingSchema);
    expect(global(DEFAULT_PAGING_OPTIONS)).toBe(true);
    expect([global({ maxPageSize: 0 }), global({ max: 1 }), own({ maxAgeSeconds: 1 })]).toEqual([false, false, false]);
    expect(own({ maxPageSize: 500 })).toBe(true);
  });
});
