import { describe, expect, it } from 'vitest';
import { fingerprintPointer } from '../../src/contract/fingerprint-pointer.ts';

describe('a fingerprint of a pointer', () => {
  it.each([
    ['', ''],
    ['/listCount', '/listCount'],
    ['/list/0/id', '/list/*/id'],
    ['/list/12/topics/3', '/list/*/topics/*'],
    ['/0/1', '/*/*'],
    ['/author/avatarUrls/48x48', '/author/avatarUrls/48x48'],
  ])('of %s is %s', (pointer, expected) => {
    expect(fingerprintPointer(pointer)).toBe(expected);
  });
});
