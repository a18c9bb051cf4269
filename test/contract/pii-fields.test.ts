import { describe, expect, it } from 'vitest';
import { piiFields } from '../../src/contract/pii-fields.ts';
import { contract } from './sample.ts';

describe('fields with personal data', () => {
  it('are those that the contract marks, each once and sorted', () => {
    expect(piiFields(contract)).toEqual([
      'accountId',
      'avatar',
      'avatarUrl',
      'avatarUrls',
      'content',
      'displayName',
      'emailAddress',
      'emailHash',
      'ip',
      'key',
      'name',
      'realname',
      'self',
      'slug',
      'timeZone',
      'username',
    ]);
  });
});
