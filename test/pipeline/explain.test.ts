import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { describeRequirement, type Requirement } from '../../src/model/operation.ts';
import { compilePermissions } from '../../src/permissions/compile-permissions.ts';
import { createOwnership } from '../../src/permissions/ownership.ts';
import { PERMISSIONS_DEFAULTS } from '../../src/permissions/permissions-options.ts';
import { explain, type ExplainRequest } from '../../src/pipeline/explain.ts';
import type { CompiledGateway } from '../../src/pipeline/compiled-gateway.ts';
import { exchangeWith, kept, type PlannedParts, plannedWith, violationWith } from '../builders/exchange.ts';
import { gatewayWith, type FakeGatewayParts } from '../builders/fake-gateway.ts';
import { createTestClock } from '../builders/test-clock.ts';
import type { DecodedParameters } from '../../src/contract/compile/decode-parameters.ts';

interface Explained {
  readonly planned?: PlannedParts;
  readonly parts?: FakeGatewayParts;
  readonly decoded?: Partial<DecodedParameters>;
  readonly disabledOperations?: readonly [string, string][];
}

/**
 * Returns the text of each step, keyed by the step's name. If several steps have the same name, their texts are
 * joined.
 */
function explained(request: Partial<ExplainRequest> = {}, given: Explained = {}) {
  const { planned, parts, decoded, disabledOperations = [] } = given;
  const permissions = compilePermissions({
    roles: {
      source: 'roles.yaml',
      unmapped: undefined,
      roles: new Map([['standard', { inherits: [], permissions: ['See things'] }]]),
      accounts: [{ name: 'alice', roles: ['standard'], groups: [], flags: [], demo: false, passwordHash: undefined }],
    },
    operations: [{ id: 'listThings', requires: { permission: 'See things' } }],
    unmapped: { kind: 'deny' },
    names: 'exact',
    verifier: 'file',
  });
  const gateway = { plan: plannedWith(planned), grantsOf: permissions.grantsOf, ...parts };
  const values = { ...exchangeWith().values(), ...decoded?.values };
  const contract: CompiledGateway['contract'] = {
    ...gatewayWith(gateway).gateway.contract,
    decodeParameters: () => ({ violations: [], reported: [], ...decoded, values }),
  };
  const made = gatewayWith({ ...gateway, contract });
  const steps = explain(
    made.gateway,
    {
      permissions,
      ownership: createOwnership(PERMISSIONS_DEFAULTS.ownership, createTestClock(), 'exact'),
      disabledOperations: new Map(disabledOperations),
    },
    'strict',
    { method: 'get', target: '/services/v2/thing.json?page=1&q=x', as: 'alice', ...request },
  );
  const record: Record<string, string> = {};
  for (const { name, text } of steps) record[name] = name in record ? `${record[name]}; ${text}` : text;
  return { ...made, record };
}

describe('the explanation of a documented request', () => {
  it('lists every check without sending a request', () => {
    const values = { ...exchangeWith().values(), page: 1, query: new Map([['q', ['x']]]), path: { nodeId: '7' } };
    const { record, next, authenticated } = explained({}, { planned: { cache: kept() }, decoded: { values } });
    expect(record).toMatchObject({
      request: 'get /services/v2/thing.json?page=1&q=x',
      caller: 'alice (verified)',
      operation: 'listThings (row 6), observed',
      mode: 'strict',
      errors: 'normalized',
      plan: 'forward',
      credential: 'treated as verified',
      parameters: 'nodeId=7, q=x',
      rule: '"See things"',
      permission: 'allowed: See things',
      'page bounds': "page 1, pageSize the upstream's default",
      upstream: 'GET /services/v2/thing.json?q=x',
      verdict: 'served from the cache if stored, otherwise forwarded',
    });
    expect(record['checks']).toContain('requests enforce');
    expect(JSON.parse(record['cache key'] ?? '')).toEqual([
      'v',
      'listThings',
      'caller:verified:user:alice',
      '/services/v2/thing.json?q=x',
    ]);
    expect([next.asked, authenticated]).toEqual([[], []]);
  });

  it('lists the permissions that a caller lacks', () => {
    const { record } = explained({ as: 'bob' });
    expect(record['permission']).toMatch(/^denied: .*missing$/);
    expect(record['verdict']).toMatch(/^403 permission_denied/);
    const reported = explained({ as: 'bob' }, { planned: { checks: { permissions: 'report' } } });
    expect(reported.record['verdict']).toBe('forwarded');
  });

  it('names the credential that an anonymous caller needs', () => {
    expect(explained({ as: undefined }).record).toMatchObject({
      caller: 'anonymous',
      credential: 'none; allowed only with authentication.anonymous: allow (authentication enforce)',
      verdict: '401 credentials_required: this request requires a credential',
    });
    const allowed = explained({ as: undefined }, { parts: { anonymous: 'allow' } });
    expect(allowed.record['verdict']).not.toMatch(/credentials_required: this request/);
    const needed = explained({ as: undefined }, { planned: { operation: { needsCredential: true } } });
    expect(needed.record['credential']).toBe('required by this operation (authentication enforce)');
  });

  it('ends with the refusal of invalid parameters', () => {
    const { record } = explained({}, { decoded: { violations: [violationWith()] } });
    expect(record).toMatchObject({
      parameters: 'page must be an integer',
      verdict: '400 invalid_parameter: page must be an integer',
    });
    expect(record).not.toHaveProperty('permission');
  });

  it('distinguishes what would only be reported', () => {
    expect(explained({}, { decoded: { reported: [violationWith()] } }).record['reported']).toBe(
      'page must be an integer',
    );
  });

  it('reports a page outside its bounds', () => {
    const values = { ...exchangeWith().values(), pageSize: 500 };
    const { record } = explained({}, { decoded: { values } });
    expect(record['page bounds']).toContain('maximum of 100');
    expect(record['verdict']).toMatch(/^400 page_size_out_of_bounds/);
  });

  it('refuses what every mode refuses', () => {
    expect(explained({ target: '/services/v2/..;/admin' }).record['verdict']).toMatch(/^400 unsafe_path/);
  });

  it('omits page bounds for operations without pages, and reports that an operation is not cached', () => {
    const { record } = explained({}, { planned: { operation: { paging: undefined } } });
    expect(record).not.toHaveProperty('page bounds');
    expect(record['cache key']).toBe('not stored');
  });

  it('explains HEAD as GET', () => {
    expect(explained({ method: 'HEAD' }).record['operation']).toMatch(/^listThings/);
  });

  it('reports checks that are switched off', () => {
    const { record } = explained({}, { disabledOperations: [['listThings', 'issueTracker.enabled']] });
    expect(record['permission']).toBe('denied: issueTracker.enabled missing');
  });

  it('does not hide its own failures', () => {
    const contract = {
      match: () => {
        throw new GatewayError('internal_error', 'broken');
      },
    } as unknown as FakeGatewayParts['contract'];
    expect(() => explained({}, { parts: { contract: contract as never } })).toThrow('broken');
  });
});

describe('the explanation of an undocumented request', () => {
  const target = '/services/v2/other.json';

  it('reports that it would be refused, and lists the methods that would be allowed', () => {
    expect(explained({ target }).record).toMatchObject({
      operation: 'not in the contract',
      verdict: '404 not_in_contract',
    });
    const verdict = { pass: false, code: 'method_not_allowed', allow: ['GET', 'HEAD'] } as const;
    expect(explained({ method: 'DELETE' }, { parts: { verdict } }).record['verdict']).toBe(
      '405 method_not_allowed, Allow: GET, HEAD',
    );
  });

  it('reports that it would pass, which permission it needs and whether it is reported', () => {
    const verdict = { pass: true, permission: 'Answer', reported: true } as const;
    expect(explained({ target }, { parts: { verdict } }).record['verdict']).toBe(
      'forwarded unchanged, requires "Answer", reported',
    );
    const plain = { pass: true, permission: undefined, reported: false } as const;
    expect(explained({ target }, { parts: { verdict: plain } }).record['verdict']).toBe('forwarded unchanged');
  });

  it('treats the methods of switched-off operations as the live path does', () => {
    const match = { undocumentedMethods: new Set(['PUT']) };
    const { judged } = explained({ method: 'PUT' }, { parts: { match } });
    expect(judged).toEqual([['PUT', '/services/v2/thing.json', undefined, false]]);
  });
});

describe('a requirement as text', () => {
  it.each<[Requirement | undefined, string]>([
    [undefined, 'none beyond authentication'],
    [{ group: 'Super Users' }, 'group "Super Users"'],
    [{ flag: 'admin' }, 'flag admin'],
    [
      { any: [{ permission: 'A' }, { all: [{ permission: 'B' }, { own: { permission: 'C' } }] }] },
      '("A" or ("B" and own node and "C"))',
    ],
  ])('%j is %s', (requirement, text) => {
    expect(describeRequirement(requirement)).toBe(text);
  });
});
