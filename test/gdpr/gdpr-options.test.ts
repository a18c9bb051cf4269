import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { DEFAULT_GDPR_OPTIONS, gdprOptionsSchema, toGdprOptions } from '../../src/gdpr/gdpr-options.ts';

describe('GDPR options', () => {
  it('treat uploads within 600 s as duplicates by default', () => {
    expect(toGdprOptions({ maxRows: 5 })).toEqual({ duplicateWindowSeconds: 600, maxRows: 5 });
  });

  it('have a schema that accepts every key and refuses unknown ones', () => {
    const valid = new Ajv2020({ strict: true }).compile(gdprOptionsSchema);
    expect(valid(DEFAULT_GDPR_OPTIONS)).toBe(true);
    expect([valid({ window: 1 }), valid({ maxRows: 0 }), valid({ duplicateWindowSeconds: -1 })]).toEqual([
      false,
      false,
      false,
    ]);
  });
});
