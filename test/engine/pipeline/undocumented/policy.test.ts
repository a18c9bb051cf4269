import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../src/engine/model/operation.ts';
import { plainPath } from '../../../../src/engine/pipeline/undocumented/path-matching.ts';
import { compileUndocumentedPolicy } from '../../../../src/engine/pipeline/undocumented/policy.ts';

const BASE = '/services/v2/';

describe('the policy for undocumented paths', () => {
  const known = new Map([['GET', {} as Operation]]);
  const entry = { method: 'POST', path: '/services/v2/question/{id}/answer.json', permission: 'Answer' };

  it('admits every method and path in observe mode', () => {
    const policy = compileUndocumentedPolicy(BASE, 'report', true, []);
    expect(policy('DELETE', '/elsewhere', undefined)).toMatchObject({ pass: true, reported: true });
  });

  it('distinguishes a wrong method on a documented path from an unknown path, even when it admits both', () => {
    for (const transparent of [true, false]) {
      const policy = compileUndocumentedPolicy(BASE, 'report', transparent, []);
      expect(policy('OPTIONS', '/services/v2/question.json', known)).toMatchObject({
        reported: true,
        documentedPath: true,
      });
      expect(policy('OPTIONS', '/services/v2/nothing.json', undefined)).toMatchObject({
        reported: true,
        documentedPath: false,
      });
    }
  });

  it('admits safe methods under the base path at the `report` level', () => {
    const policy = compileUndocumentedPolicy(BASE, 'report', false, []);
    expect(policy('GET', '/services/v2/user/7.json', undefined)).toMatchObject({ pass: true, reported: true });
    expect(policy('GET', '/admin/users', undefined)).toMatchObject({ pass: false, code: 'not_in_contract' });
  });

  it('requires an entry for unsafe methods even at the `report` level', () => {
    const policy = compileUndocumentedPolicy(BASE, 'report', false, [entry]);
    expect(policy('POST', '/services/v2/user/7.json', undefined)).toMatchObject({ pass: false });
    expect(policy('POST', '/services/v2/question/7/answer.json', undefined)).toEqual({
      pass: true,
      permission: 'Answer',
      reported: false,
    });
  });

  it('admits only listed paths at the `enforce` level', () => {
    const policy = compileUndocumentedPolicy(BASE, 'enforce', false, [entry]);
    expect(policy('GET', '/services/v2/user/7.json', undefined)).toMatchObject({
      pass: false,
      code: 'not_in_contract',
    });
    expect(policy('POST', '/services/v2/question/7/answer.json', undefined)).toMatchObject({ pass: true });
    expect(policy('GET', '/services/v2/question/7/answer.json', undefined)).toMatchObject({ pass: false });
  });

  it('lists the methods of a documented path, including HEAD with GET', () => {
    const policy = compileUndocumentedPolicy(BASE, 'enforce', false, []);
    expect(policy('DELETE', '/services/v2/question.json', known)).toEqual({
      pass: false,
      code: 'method_not_allowed',
      allow: ['GET', 'HEAD'],
    });
  });

  it('admits HEAD if GET is allowed', () => {
    const policy = compileUndocumentedPolicy(BASE, 'enforce', false, [
      { method: 'GET', path: '/services/v2/node.json' },
    ]);
    expect(policy('HEAD', '/services/v2/node.json', undefined)).toMatchObject({ pass: true });
    expect(policy('POST', '/services/v2/node.json', undefined)).toMatchObject({ pass: false });
    const writes = compileUndocumentedPolicy(BASE, 'enforce', false, [
      { method: 'POST', path: '/services/v2/node.json' },
    ]);
    expect(writes('HEAD', '/services/v2/node.json', undefined)).toMatchObject({ pass: false });
  });
});

/*
 * The attack: a path is spelled so that none of the gateway's rules apply to it, but the server behind the gateway
 * interprets it as a protected path. For example, Tomcat reads `/services/v2/%71uestion.json;x` as the question list.
 */

const PLAIN = '/services/v2/admin/users.json';
const SPELLINGS = [
  '/services/v2/%61dmin/users.json',
  '/services/v2/admin/users%2ejson',
  '/services/v2/admin/users%2Ejson',
  '/services/v2/admin/%75%73%65%72%73.json',
  '/services/v2/admin;a=b/users.json',
  '/services/v2/admin%3ba/users.json',
  '/services/v2/admin/users.json;jsessionid=1',
  '/services/v2/admin/users.json/',
  '/services/v2/admin//users.json',
  '/services/v2/;/admin/users.json',
  '/services/v2/admin/users.json.',
  '/services/v2/admin/users.json%20',
  '/services/v2/admin/users.json..%20',
  // Decoded twice
  '/services/v2/admin%252fusers.json',
  '/services/v2/%2561dmin/users.json',
  '/services/v2/x/%252e%252e/admin/users.json',
  '/services/v2/%%361dmin/users.json',
  '/services/v2/%u0061dmin/users.json',
  // Backslashes that the gateway itself does not recognize as such
  '/services/v2/admin%255cusers.json',
  // Control and invisible characters
  '/services/v2/admin/users.json%09',
  '/services/v2/admin/users.json%0d%0a',
  '/services/v2/admin/users.json%7f',
  '/services/v2/ad%0amin/users.json',
  '/services/v2/admin/users.json%c2%a0',
  '/services/v2/%20admin/users.json',
  '/services/v2/ad%e2%80%8bmin/users.json',
  '/services/v2/admin/users.json%2500.css',
  // Text that a server may take for a query or a fragment after decoding
  '/services/v2/admin/users.json%3fx=1',
  '/services/v2/admin/users.json%23x',
  // Full-width and similar characters
  '/services/v2/%ef%bd%81dmin/users.json',
  '/services/v2/admin%ef%bc%8fusers.json',
  '/services/v2/admin%e2%88%95users.json',
  '/services/v2/admin/users%ef%bc%8ejson',
  '/services/v2/%ef%bc%8561dmin/users.json',
  '/services/v2/x/%ef%bc%8e%ef%bc%8e/admin/users.json',
  '/services/v2/\xef\xbd\x81dmin/users.json',
  // Overlong UTF-8
  '/services/v2/admin%c0%afusers.json',
  '/services/v2/admin/users%c0%aejson',
  '/services/v2/admin%e0%80%afusers.json',
];

describe('the plain form of a path', () => {
  it.each(SPELLINGS)('is the path that a server could read: %s', (path) => {
    expect(plainPath(path)).toBe(PLAIN);
  });

  it.each([PLAIN, '/services/v2/a.b/c', '/', '/services/v2/é', '/services/v2/%zz', '/services/v2/a%'])(
    'of a plain path is the path itself: %s',
    (path) => {
      expect(plainPath(path)).toBe(path);
    },
  );

  it('is not determined for a path that is encoded more often than a server would decode it', () => {
    expect(plainPath(`/services/v2/%${'25'.repeat(9)}61dmin`)).toBeUndefined();
  });
});

describe('another spelling of a path', () => {
  const guarded = { method: 'GET', path: '/services/v2/admin/**', permission: 'Administer' };
  const open = { method: '*', path: '/services/v2/**' };

  it.each(SPELLINGS)('does not evade the permission of an entry: %s', (path) => {
    const policy = compileUndocumentedPolicy(BASE, 'enforce', false, [guarded, open]);
    expect(policy('GET', PLAIN, undefined)).toMatchObject({ pass: true, permission: 'Administer' });
    const verdict = policy('GET', path, undefined);
    expect(verdict.pass ? verdict.permission : 'refused').toMatch(/^Administer$|^refused$/);
  });

  it.each(SPELLINGS)('does not evade it at the `report` level either: %s', (path) => {
    const verdict = compileUndocumentedPolicy(BASE, 'report', false, [guarded])('GET', path, undefined);
    expect(verdict.pass ? verdict.permission : 'refused').toMatch(/^Administer$|^refused$/);
  });

  it('of a documented path is refused outside observe mode, even if a pattern matches it', () => {
    const alias = '/services/v2/question.json;a';
    for (const level of ['enforce', 'report', 'off'] as const) {
      const policy = compileUndocumentedPolicy(BASE, level, false, [open]);
      expect(policy('GET', alias, undefined, true)).toMatchObject({ pass: false, code: 'not_in_contract' });
    }
    expect(compileUndocumentedPolicy(BASE, 'report', true, [])('GET', alias, undefined, true)).toMatchObject({
      pass: true,
    });
  });

  it('passes if an entry contains exactly this spelling', () => {
    const path = '/services/v2/Question.json';
    const policy = compileUndocumentedPolicy(BASE, 'enforce', false, [{ method: 'GET', path }]);
    expect(policy('GET', path, undefined, true)).toMatchObject({ pass: true });
  });

  it('passes if it differs only by a final slash that the entry has too', () => {
    const entries = [{ method: '*', path: '/services/v2/poll/{id}/' }];
    const policy = compileUndocumentedPolicy(BASE, 'enforce', false, entries);
    expect(policy('GET', '/services/v2/poll/17/', undefined)).toMatchObject({ pass: true });
    // A server that ignores empty segments would read this path as the path of another resource.
    expect(policy('GET', '/services/v2/poll//', undefined)).toMatchObject({ pass: false });
    const both = compileUndocumentedPolicy(BASE, 'enforce', false, [
      { method: '*', path: '/services/v2/poll/{id}', permission: 'Vote' },
      ...entries,
    ]);
    expect(both('GET', '/services/v2/poll/17/', undefined)).toMatchObject({ pass: false });
  });

  it('cannot have the suffix that a pattern requires in a path parameter', () => {
    const policy = compileUndocumentedPolicy(BASE, 'enforce', false, [
      { method: 'GET', path: '/services/v2/{name}.css' },
    ]);
    expect(policy('GET', '/services/v2/style.css', undefined)).toMatchObject({ pass: true });
    expect(policy('GET', '/services/v2/secrets.json;.css', undefined)).toMatchObject({ pass: false });
  });
});
