import { describe, expect, it } from 'vitest';
import { unsafeTargetReason } from '../../src/pipeline/unsafe-path.ts';

// A path that Portico and the server behind it interpret differently would reach what no rule allows.
describe('a raw target', () => {
  it.each([
    '/services/v2/../admin',
    '/services/v2/./question.json',
    '/services/v2/%2e%2e/admin',
    '/services/v2/.%2E/admin',
    '/services/v2/..;/admin',
    '/services/v2/..;x=1/admin',
    '/services/v2/..%3b/admin',
    '/services/v2/comment/..%2f..%2fadmin.json',
    '/services/v2/comment/..%5c..%5cadmin.json',
    '/services/v2/..\\..\\admin',
    '/services/v2/comment/%00.json',
    '/services/v2/question.json#x',
    'services/v2/question.json',
  ])('%s is refused', (path) => {
    expect(unsafeTargetReason(path, undefined)).toBeTypeOf('string');
  });

  it.each([
    '/services/v2/question.json',
    '/services/v2/user/a.b.json',
    '/services/v2/user/..a.json',
    '/services/v2/user/%C3%A4.json',
    '/services/v2/user/a;b.json',
    '//services/v2/question.json',
  ])('%s is accepted unchanged', (path) => {
    expect(unsafeTargetReason(path, 'q=a%2Fb..%20c')).toBeUndefined();
  });

  it('with a NUL or a fragment in its query is refused', () => {
    expect(unsafeTargetReason('/a', 'q=%00')).toBeTypeOf('string');
    expect(unsafeTargetReason('/a', 'q=a#b')).toBeTypeOf('string');
  });
});
