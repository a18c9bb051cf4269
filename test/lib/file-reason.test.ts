import { expect, it } from 'vitest';
import { fileReason } from '../../src/lib/file-reason.ts';

it.each([
  ['EACCES', 'you have no permission (EACCES)'],
  ['ENOENT', 'there is no such file or folder (ENOENT)'],
  ['EISDIR', 'it is a folder, not a file (EISDIR)'],
  ['ENOSPC', 'the disk is full (ENOSPC)'],
  ['EUNUSUAL', 'EUNUSUAL'],
])('the reason for %s is in words, followed by the code', (code, words) => {
  expect(fileReason(Object.assign(new Error(`${code}: inner words, open '/x'`), { code }))).toBe(words);
});

it('the reason for any other error is unknown, and its text is not shown', () => {
  expect([fileReason(new TypeError('inner words')), fileReason('x')]).toEqual(['unknown reason', 'unknown reason']);
});
