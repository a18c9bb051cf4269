import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import {
  commentsOptionsSchema,
  DEFAULT_COMMENTS_OPTIONS,
  toCommentsOptions,
} from '../../src/comments/comments-options.ts';

describe('comment options', () => {
  it('have three private options by default, one for each kind of recipient', () => {
    const ways = Object.values(toCommentsOptions().visibilityOptions);
    expect(new Set(ways).size).toBe(3);
    expect(Object.keys(toCommentsOptions().visibilityOptions)).toContain('recipients');
  });

  it('replace the guessed names with configured ones and keep recipients', () => {
    expect(toCommentsOptions({ visibilityOptions: { mods: 'toModerators' } }).visibilityOptions).toEqual({
      recipients: 'toOwnGroups',
      mods: 'toModerators',
    });
  });

  it('have a schema that accepts every key and refuses unknown ones', () => {
    const valid = new Ajv2020({ strict: true }).compile(commentsOptionsSchema);
    expect(valid(DEFAULT_COMMENTS_OPTIONS)).toBe(true);
    expect([valid({ visibilityOptions: { x: 'toAll' } }), valid({ options: {} })]).toEqual([false, false]);
  });
});
