import { describe, expect, it } from 'vitest';
import { demoAccountFaults, operationFaults } from '../../../src/engine/config/cross-faults.ts';
import { faultsOf, load } from './load-in-folder.ts';

describe('keys that cannot be combined', () => {
  const SERVICE = 'upstream: { credentials: { kind: service, username: robot, password: x } }';

  const shared = (more: string) => `operations: { listIdeas: { cache: { audience: public${more} } } }`;

  const firstMessage = (yaml: string, env: Record<string, string> = {}) => {
    const [first, ...more] = faultsOf(yaml, { env });
    return first === undefined ? undefined : { pointer: first.pointer, message: first.message, others: more.length };
  };

  it.each(['authentication', 'permissions'])(
    'service credentials are rejected if %s is below the `enforce` level',
    (check) => {
      expect(firstMessage(`${SERVICE}\nchecks: { ${check}: report }`)).toMatchObject({
        pointer: `/checks/${check}`,
        message: expect.stringContaining('service account') as string,
      });
      expect(firstMessage(`${SERVICE}\noperations: { listIdeas: { checks: { ${check}: off } } }`)).toMatchObject({
        pointer: `/operations/listIdeas/checks/${check}`,
        others: 0,
      });
      expect(faultsOf(SERVICE)).toEqual([]);
    },
  );

  it('service credentials are rejected in observe mode for both checks', () => {
    expect(faultsOf(`mode: observe\n${SERVICE}`)).toHaveLength(2);
  });

  it('an operation may turn off other checks with service credentials', () => {
    const yaml = `${SERVICE}\noperations: { listIdeas: { checks: { responses: off } } }`;
    expect(faultsOf(yaml)).toEqual([]);
  });

  it.each([
    ['cache', 'mode: observe\ncache: { enabled: true }', '/cache/enabled'],
    ['rewriteUrls', 'mode: observe\nrewriteUrls: true', '/rewriteUrls'],
  ])('%s cannot be on in observe mode', (_key, yaml, pointer) => {
    expect(firstMessage(yaml)).toMatchObject({ pointer });
    expect(faultsOf(yaml.replace('observe', 'staging'))).toEqual([]);
  });

  it('a shared cache audience requires a service credential or assumeImpersonal', () => {
    expect(firstMessage(shared(''))).toMatchObject({ pointer: '/operations/listIdeas/cache/audience' });
    expect(faultsOf(shared(', assumeImpersonal: true'))).toEqual([]);
    expect(faultsOf(`${shared('')}\n${SERVICE}`)).toEqual([]);
  });

  it.each([
    ['{ url: "redis://a", urlFile: x }', '/redis/urlFile', 'is set in addition to redis.url'],
    ['{ url: "redis://a", cluster: { nodes: ["a:1"] } }', '/redis/cluster', 'is set in addition to redis.url'],
    [
      '{ cluster: { nodes: ["a:1"] }, sentinel: { name: m, nodes: ["a:1"] } }',
      '/redis/cluster',
      'is set in addition to redis.sentinel',
    ],
    ['{ url: "redis://a", password: x, passwordFile: y }', '/redis/passwordFile', 'in addition to redis.password'],
    ['{ url: "rediss://a", tls: { certFile: x } }', '/redis/tls/certFile', 'needs redis.tls.keyFile'],
    ['{ url: "rediss://a", tls: { keyFile: x } }', '/redis/tls/keyFile', 'needs redis.tls.certFile'],
    ['{ cluster: { nodes: ["a:70000"] } }', '/redis/cluster/nodes/0', 'is not a host and a port'],
    ['{ url: "redis://a", commandTimeoutMs: 500, maxUnsyncedSeconds: 1 }', '/redis/maxUnsyncedSeconds', 'is too short'],
  ])('redis: %s is rejected', (redis, pointer, message) => {
    expect(firstMessage(`redis: ${redis}`)).toEqual({
      pointer,
      message: expect.stringContaining(message) as string,
      others: 0,
    });
  });

  it('redis: a user and a password may be separate from the url', () => {
    expect(faultsOf('redis: { url: "redis://a", username: gw, passwordFile: x }')).toEqual([]);
  });

  it.each([
    ['qa.example.org', 'is not an absolute URL'],
    ['ftp://b.example.org/qa', 'must begin with http:// or https://'],
    ['http://name:secret@b.example.org/qa', 'must not contain credentials; set them in upstream.credentials'],
    ['http://b.example.org/other', 'has a different path prefix than upstream.url, which has /qa'],
    ['http://a.example.org/qa/', 'is the same address as an earlier one'],
  ])('the alternate address %s is rejected', (alternate, message) => {
    const yaml = `upstream: { url: "http://a.example.org/qa", alternates: ["http://c.example.org/qa", "${alternate}"] }`;
    expect(firstMessage(yaml)).toEqual({ pointer: '/upstream/alternates/1', message, others: 0 });
    expect(JSON.stringify(faultsOf(yaml))).not.toContain('secret');
  });

  it('alternate addresses need a first one', () => {
    expect(firstMessage('upstream: { alternates: ["http://b.example.org"] }')).toMatchObject({
      pointer: '/upstream/alternates/0',
      message: 'needs upstream.url, which is the first address',
    });
    expect(faultsOf('upstream: { url: "http://a.example.org", alternates: ["http://b.example.org/"] }')).toEqual([]);
  });

  it('the two listeners cannot share a port, unless it is 0', () => {
    expect(firstMessage('', { PORT: '8081' })).toMatchObject({ message: 'is also the public port (8081)' });
    expect(faultsOf('listen: { port: 0, adminPort: 0 }')).toEqual([]);
  });

  it.each(['qa', '/qa/', '/qa//x', '/..', '/./x', '/a b', '/services/v2'])('the base path %s is rejected', (path) => {
    expect(faultsOf(`publicBasePath: ${path}`)).toHaveLength(1);
  });

  it.each(['/qa', '/real-answers', '/a/b_c.d'])('the base path %s is accepted', (path) => {
    expect(load(`publicBasePath: ${path}`).publicBasePath).toBe(path);
  });

  it.each(['127.0.0.1:8080', 'ftp://h/', 'http://u:p@h/', 'http://h/?q', 'http://h/#f', 'http://h/../x'])(
    'the upstream address %s is refused',
    (url) => {
      expect(faultsOf('', { env: { UPSTREAM_URL: url } })[0]?.source).toBe('UPSTREAM_URL');
    },
  );

  it.each(['10.0.0.0/33', 'proxy.example.org', '::1/129', '10.0.0.0/8/8'])(
    'the trusted proxy %s is refused',
    (proxy) => {
      expect(firstMessage(`listen: { trustedProxies: ['${proxy}'] }`)).toMatchObject({
        pointer: '/listen/trustedProxies/0',
      });
    },
  );

  it('trusted proxies may be addresses, networks and the three keywords', () => {
    expect(faultsOf("listen: { trustedProxies: ['10.0.0.0/8', '::1', loopback, 'fd00::/8'] }")).toEqual([]);
  });

  it('an invalid regular expression is rejected', () => {
    expect(firstMessage("upstream: { permissionMessages: ['('] }")).toMatchObject({
      pointer: '/upstream/permissionMessages/0',
    });
  });

  it('allowed paths are limited to the base path of the service', () => {
    expect(faultsOf('undocumented: { allow: [{ method: GET, path: /admin/x }] }')).toHaveLength(1);
    expect(faultsOf('undocumented: { allow: [{ method: FETCH, path: /services/v2/x.json }] }')).toHaveLength(1);
    expect(faultsOf("undocumented: { allow: [{ method: GET, path: '/services/v2/user/{id}.json' }] }")).toEqual([]);
  });
});

describe('operation errors', () => {
  it('unknown operations are rejected in all keys', () => {
    const settings = load(`operations:
  listQuestion: { errors: legacy }
  listIdeas: { errors: legacy }
parameters:
  allow: { nonsense: [a] }
cache:
  defaultPageSize: { listIdea: 15 }
`);
    expect(operationFaults(settings, ['listQuestions', 'listIdeas'])).toMatchObject([
      {
        source: 'config/portico.yaml:2',
        pointer: '/operations/listQuestion',
        suggestion: 'did you mean listQuestions?',
      },
      { source: 'config/portico.yaml:5', pointer: '/parameters/allow/nonsense' },
      {
        source: 'config/portico.yaml:7',
        pointer: '/cache/defaultPageSize/listIdea',
        suggestion: 'did you mean listIdeas?',
      },
    ]);
  });
});

describe('demo account errors', () => {
  const account = (name: string, demo: boolean) => ({
    name,
    demo,
    roles: [],
    groups: [],
    flags: [],
    passwordHash: undefined,
  });
  const roles = {
    source: 'config/roles.yaml',
    unmapped: undefined,
    roles: new Map(),
    accounts: [account('admin', true), account('jane', false), account('guest', true)],
  };
  const REAL = 'upstream: { url: "http://127.0.0.1:9" }';

  it('demo accounts with a real upstream are rejected and listed', () => {
    const [fault, ...more] = demoAccountFaults(load(`${REAL}\nauthentication: { verifier: file }`), roles);
    expect(fault?.message).toContain('admin, guest');
    expect(fault?.message).not.toContain('jane');
    expect(more).toEqual([]);
  });

  it('demo accounts are accepted with the embedded upstream, or if the upstream verifies credentials', () => {
    expect(demoAccountFaults(load(''), roles)).toEqual([]);
    expect(demoAccountFaults(load(REAL), roles)).toEqual([]);
  });
});
