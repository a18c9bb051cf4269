import { parse, stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { explainLine } from '../../src/engine/pipeline/explain.ts';
import { fastRoles } from '../builders/fast-roles.ts';
import { startTestGateway } from '../builders/test-gateway.ts';

type Json = Record<string, unknown>;

/**
 * Merges an entry into a file. Objects are merged by key, and lists of accounts by name. In all other lists, new
 * elements are appended.
 */
function merge(into: unknown, entry: unknown): unknown {
  if (Array.isArray(into) && Array.isArray(entry)) {
    const keyOf = (one: unknown) => (typeof one === 'object' ? (one as { name?: unknown }).name : one);
    const added = new Map(entry.map((one: unknown) => [keyOf(one), one]));
    const changed = into.map((one: unknown) => {
      const more = added.get(keyOf(one)) ?? one;
      added.delete(keyOf(one));
      return typeof one === 'object' ? merge(one, more) : one;
    });
    return [...changed, ...added.values()];
  }
  if (typeof into !== 'object' || into === null || typeof entry !== 'object') return entry;
  const merged: Json = { ...(into as Json) };
  for (const [key, value] of Object.entries(entry as Json)) merged[key] = merge(merged[key], value);
  return merged;
}

async function explained(config: Json, roles: string, [method, target, as]: readonly [string, string, string?]) {
  const gateway = await startTestGateway({ upstream: 'http://127.0.0.1:9', config, roles });
  const steps = await gateway.gateway.explain({ method, target, as });
  await gateway.close();
  const verdict = steps.find(({ name }) => name === 'verdict')?.text ?? '';
  const last = steps.at(-1);
  return { verdict, last: last === undefined ? '' : explainLine(last) };
}

const PASSES = /^(?:forwarded|served)/;

describe('the last line of the explanation of a refused request', () => {
  it.each<[string, readonly [string, string, string?], string, string]>([
    [
      'an undocumented path',
      ['GET', '/services/v2/thing/12.json', 'alice'],
      '404 not_in_contract',
      'undocumented: { allow: [{ method: GET, path: "/services/v2/thing/{id}.json" }] }',
    ],
    [
      'an undocumented method',
      ['DELETE', '/services/v2/question.json', 'alice'],
      '405 method_not_allowed',
      'undocumented: { allow: [{ method: DELETE, path: "/services/v2/question.json" }] }',
    ],
    [
      'an unknown parameter',
      ['GET', '/services/v2/question.json?colour=red', 'alice'],
      '400 unknown_parameter',
      'parameters: { allow: { listQuestions: ["colour"] } }',
    ],
    [
      'an invalid parameter',
      ['GET', '/services/v2/question.json?page=x', 'alice'],
      '400 invalid_parameter',
      'operations: { listQuestions: { checks: { requests: report } } }',
    ],
    [
      'a page that is too large',
      ['GET', '/services/v2/question.json?pageSize=500', 'alice'],
      '400 page_size_out_of_bounds',
      'pageBounds: { maxPageSize: 500 }',
    ],
    [
      'a caller without a permission',
      ['GET', '/services/v2/action.json', 'alice'],
      '403 permission_denied',
      'roles file: roles: { "standard": { permissions: ["View analytics"] } } and accounts: [{ name: "alice", groups: ["Super Users"] }]',
    ],
    [
      'an anonymous caller',
      ['GET', '/services/v2/question.json'],
      '401 credentials_required',
      'send an HTTP Basic credential (other schemes, such as Bearer, are not accepted), or authentication: { anonymous: allow }',
    ],
  ])('is an entry that lets the request pass: %s', async (_, request, refusal, entry) => {
    const roles = await fastRoles();
    const before = await explained({}, roles, request);
    expect(before.verdict).toMatch(new RegExp(`^${refusal}`));
    expect(before.last).toBe(`to allow it: ${entry}`);
    const [, file, yaml = ''] = /^(roles file: |send .*, or )?(.*)$/.exec(entry) ?? [];
    const isRoles = file === 'roles file: ';
    const config = isRoles ? {} : (parse(yaml) as Json);
    const changed = isRoles
      ? stringify(yaml.split(' and ').reduce((all, part) => merge(all, parse(part)), parse(roles) as unknown))
      : roles;
    const after = await explained(config, changed, request);
    expect(after.verdict).toMatch(PASSES);
    expect(after.last).not.toMatch(/^to allow it/);
  });

  it('states that no entry can allow a path outside the base path', async () => {
    const { last } = await explained({}, await fastRoles(), ['GET', '/admin', 'alice']);
    expect(last).toBe('to allow it: nothing; entries of undocumented.allow apply only to paths below /services/v2/');
  });
});

it('says that missing permissions are alternatives if any one of them is enough', async () => {
  const gateway = await startTestGateway({ upstream: 'http://127.0.0.1:9' });
  const permissionLine = async (method: string, target: string) =>
    (await gateway.gateway.explain({ method, target, as: 'guest' })).find(({ name }) => name === 'permission')?.text;
  expect(await permissionLine('POST', '/services/v2/users/gdpr/upload.json')).toMatch(
    /denied: admin or superuser missing \(any one of these is enough\)$/,
  );
  expect(await permissionLine('GET', '/services/v2/action.json')).toMatch(
    /denied: View analytics, Super Users missing$/,
  );
});
