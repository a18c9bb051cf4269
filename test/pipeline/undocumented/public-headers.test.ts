import { describe, expect, it } from 'vitest';
import { publicHeaders, publicLocation } from '../../../src/pipeline/undocumented/public-headers.ts';
import { compileLegacyAddresses } from '../../../src/upstream/legacy-addresses.ts';

const PUBLIC = 'https://new.example/p';
const prefixed = compileLegacyAddresses({ origin: 'http://10.0.0.5:8080', basePath: '/qa' }, [
  'http://www.old.example',
]);
const rooted = compileLegacyAddresses({ origin: 'http://10.0.0.5:8080', basePath: '' }, []);

describe('rules 11: `Location`', () => {
  it.each([
    ['http://10.0.0.5:8080/qa/services/v2/node/1.json?a=b#c', `${PUBLIC}/services/v2/node/1.json?a=b#c`],
    ['https://www.old.example/qa/x', `${PUBLIC}/x`],
    ['//www.old.example/qa/x', `${PUBLIC}/x`],
    ['/qa/x', '/p/x'],
    ['/qa', '/p'],
    ['/qa?a', '/p?a'],
    ['/qax', '/qax'],
    ['/elsewhere', '/elsewhere'],
    ['x.json', 'x.json'],
    ['https://elsewhere.example/qa/x', 'https://elsewhere.example/qa/x'],
    ['//elsewhere.example/qa/x', '//elsewhere.example/qa/x'],
    ['http://www.old.example/login', 'http://www.old.example/login'],
    [
      'https://elsewhere.example/?next=http://www.old.example/qa/x',
      `https://elsewhere.example/?next=http://www.old.example/qa/x`,
    ],
  ])('%s becomes %s', (value, expected) => {
    expect(publicLocation(value, prefixed, PUBLIC)).toBe(expected);
  });

  it('is a path under the public base path if the upstream has none', () => {
    expect(publicLocation('/x', rooted, PUBLIC)).toBe('/p/x');
    expect(publicLocation('/x', rooted, 'https://new.example')).toBe('/x');
    expect(publicLocation('/x', rooted, 'https://no[t a host/p/')).toBe('/p/x');
    expect(publicLocation('//evil.example/x', rooted, PUBLIC)).toBe('//evil.example/x');
  });
});

describe('other response headers', () => {
  it('with addresses become public, and the rest is unchanged', () => {
    const fields = [
      ['Content-Location', '/qa/x'],
      ['Refresh', '5; url=http://www.old.example/qa/x'],
      ['Link', '<http://www.old.example/qa/x>; rel=next, <http://www.old.example/qa/y>; rel=prev'],
      ['X-Other', 'http://www.old.example/qa/x'],
    ] as const;
    expect(publicHeaders(fields, prefixed, PUBLIC)).toEqual([
      ['Content-Location', '/p/x'],
      ['Refresh', `5; url=${PUBLIC}/x`],
      ['Link', `<${PUBLIC}/x>; rel=next, <${PUBLIC}/y>; rel=prev`],
      ['X-Other', 'http://www.old.example/qa/x'],
    ]);
  });

  it.each([
    ['sid=a=b; Path=/qa; HttpOnly; Secure', 'sid=a=b; Path=/p; HttpOnly; Secure'],
    ['sid=1; path=/qa/x; Domain=.old.example; SameSite=Lax', 'sid=1; path=/p/x; SameSite=Lax'],
    ['sid=1; Domain=www.old.example', 'sid=1'],
    ['sid=1; Domain=other.example; Path=/', 'sid=1; Domain=other.example; Path=/'],
    [
      'sid=Domain=www.old.example; Expires=Thu, 01 Jan 2026 00:00:00 GMT',
      'sid=Domain=www.old.example; Expires=Thu, 01 Jan 2026 00:00:00 GMT',
    ],
    ['', ''],
  ])('turn the cookie %j into one for the gateway: %j', (cookie, expected) => {
    expect(publicHeaders([['Set-Cookie', cookie]], prefixed, PUBLIC)).toEqual([['Set-Cookie', expected]]);
  });
});
