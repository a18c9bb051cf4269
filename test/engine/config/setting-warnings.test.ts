import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/portico-settings.ts';
import { settingWarnings } from '../../../src/engine/config/setting-warnings.ts';
import { loadContract } from '../../../src/engine/contract/load-contract.ts';
import { packageRoot } from '../../../src/lib/package-root.ts';
import { loadRoles } from '../../../src/engine/permissions/roles-file.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { runInProcess } from '../../cli/run-in-process.ts';
import { load } from './load-in-folder.ts';

const rolesFile = join(packageRoot, 'config', 'roles.yaml');
const roles = loadRoles(readFileSync(rolesFile, 'utf8'), 'roles.yaml', undefined);

const warningsOf = (yaml: string, more: { permissions?: readonly string[] } = {}) => {
  const settings = load(yaml);
  const contract = loadContract(settings.contract);
  const permissions = contract.permissions.filter(({ name }) => more.permissions?.includes(name) ?? true);
  return settingWarnings(settings, { operations: contract.operations, permissions }, roles).map(
    ({ pointer, message }) => `${pointer} ${message}`,
  );
};

const REAL = 'upstream: { url: "http://qa.example.org" }';
const allow = (...entries: string[]) => `undocumented: { allow: [${entries.map((one) => `{ ${one} }`).join(', ')}] }`;

describe('a setting that cannot have an effect causes a warning', () => {
  // Each row contains a configuration, the location of its warning, and a replacement that makes the setting take
  // effect.
  it.each([
    [`${REAL}\nreference: { seed: 2 }`, '/reference', ['url: "http://qa.example.org"', 'concurrency: 8']],
    [
      'upstream: { ejection: { failures: 2 } }',
      '/upstream/ejection',
      ['{ e', '{ url: "http://a.example.org", alternates: ["http://b.example.org"], e'],
    ],
    [
      'mode: observe\nupstream: { url: "http://a.example.org", probe: { path: /a } }',
      '/upstream/probe',
      ['observe', 'staging'],
    ],
    ['mode: staging\nupstream: { probe: { timeoutMs: 9 } }', '/upstream/probe', ['timeoutMs: 9', 'path: /a']],
    ['upstream: { startupProbe: true }', '/upstream/startupProbe', ['{ s', '{ url: "http://qa.example.org", s']],
    ['mode: observe\ncache: { freshSeconds: 5 }', '/cache/freshSeconds', ['observe', 'staging']],
    ['mode: strict\ncache: { enabled: false, gzip: true }', '/cache/gzip', ['false', 'true']],
    ['mode: observe\ngdpr: { duplicateWindowSeconds: 9 }', '/gdpr/duplicateWindowSeconds', ['observe', 'strict']],
    [
      'authentication: { verifier: file, calibrationSeconds: 60 }',
      '/authentication/calibrationSeconds',
      ['file', 'upstream'],
    ],
    ['authentication: { verifier: upstream, hashing: { queue: 9 } }', '/authentication/hashing', ['upstream', 'file']],
    [
      'permissions: { ownership: { authorPointer: /a } }',
      '/permissions/ownership/authorPointer',
      ['/a }', '/a, lookup: "/n/{nodeId}" }'],
    ],
    ['contract: { scanner: on }\nlearn: { traffic: true }', '/contract/scanner', ['true', 'false']],
    ['mode: observe\nlevels: { promote: { enabled: true } }', '/levels/promote/enabled', ['observe', 'staging']],
    ['levels: { promote: { checks: [requests] } }', '/levels/promote/checks', ['{ checks', '{ enabled: true, checks']],
    [
      'levels: { demote: { enabled: true } }',
      '/levels/demote/enabled',
      ['levels', 'checks: { responses: enforce }\nlevels'],
    ],
    [
      'contract: { inferred: off }\ncomments: { visibilityOptions: { a: toModerators } }',
      '/comments/visibilityOptions',
      ['off', 'on'],
    ],
    [
      'operations: { listIdeas: { checks: { undocumented: enforce } } }',
      '/operations/listIdeas/checks/undocumented',
      ['undocumented', 'responses'],
    ],
    [
      'operations: { getComment: { pageBounds: { maxPageSize: 5 } } }',
      '/operations/getComment/pageBounds',
      ['getComment', 'listIdeas'],
    ],
    ['cache: { defaultPageSize: { getComment: 5 } }', '/cache/defaultPageSize/getComment', ['getComment', 'listIdeas']],
    [
      'operations: { uploadGdprFile: { cache: { freshSeconds: 5 } } }',
      '/operations/uploadGdprFile/cache',
      ['uploadGdprFile', 'listIdeas'],
    ],
    [
      'mode: observe\noperations: { listIdeas: { cache: { freshSeconds: 5 } } }',
      '/operations/listIdeas/cache',
      ['observe', 'strict'],
    ],
    ['parameters: { allow: { listIdeas: [page] } }', '/parameters/allow/listIdeas/0', ['[page]', '[colour]']],
    [allow('method: GET, path: "/services/v2/comment/{id}.json"'), '/undocumented/allow/0', ['GET', 'DELETE']],
    [
      allow('method: "*", path: "/services/v2/x/{a}.json"', 'method: PUT, path: "/services/v2/x/{b}.json"'),
      '/undocumented/allow/1',
      ['{b}', '{b}/y'],
    ],
  ] as const)('%j, at %s', (yaml, pointer, [from, to]) => {
    const matching = (text: string) => warningsOf(text).filter((line) => line.startsWith(`${pointer} has no effect: `));
    expect(matching(yaml)).toHaveLength(1);
    expect(yaml).toContain(from);
    expect(matching(yaml.replace(from, to))).toEqual([]);
  });

  it('but a default or an example from the package never does', () => {
    expect(warningsOf('')).toEqual([]);
    expect(warningsOf('mode: observe')).toEqual([]);
    expect(warningsOf(REAL)).toEqual([]);
    const settings = loadSettings({ env: {}, cwd: packageRoot, flags: [] });
    const contract = loadContract(settings.contract);
    expect(settingWarnings(settings, contract, roles)).toEqual([]);
  });
});

describe('an expression for permission messages causes a warning', () => {
  const withMessages = (...expressions: string[]) =>
    warningsOf(`upstream: { permissionMessages: ${JSON.stringify(expressions)} }`);

  it('if it can block the event loop', () => {
    expect(withMessages('not allowed', '^(?:(?:no)+ ?)+rights')).toEqual([
      expect.stringMatching(/^\/upstream\/permissionMessages\/1 the pattern .* grows exponentially/),
    ]);
    expect(withMessages('not allowed', '^(?:no )+rights')).toEqual([]);
  });
});

describe('an unknown name causes a warning', () => {
  const path = 'method: PUT, path: "/services/v2/space.json", permission:';

  it('for a permission of an undocumented path that the contract does not list, or that no role grants', () => {
    expect(warningsOf(allow(`${path} View list ideas`))).toEqual([
      '/undocumented/allow/0/permission "View list ideas" is not a permission in the contract (x-permissions); did you mean "View list idea"?',
    ]);
    expect(warningsOf(allow(`${path} View list idea`))).toEqual([]);
  });

  it('for the permissions of the rules for private fields of comments', () => {
    expect(warningsOf('', { permissions: ['Use Private Comments'] })).toEqual(
      [
        'Send private comments to the original poster',
        'Send private comments to moderators',
        'Send private comments to own groups',
      ].map(
        (name) =>
          `/contract the rules for private fields of comments require "${name}", which is not a permission in the contract (x-permissions)`,
      ),
    );
  });

  it('for a role in cache.noCacheRoles that the roles file does not contain', () => {
    expect(warningsOf('cache: { noCacheRoles: [moderatoin, moderation] }')).toEqual([
      '/cache/noCacheRoles/0 "moderatoin" is not a role in the roles file; did you mean "moderation"?',
    ]);
  });
});

it('portico check shows these warnings and succeeds, but an unknown permission of a role is an error', async () => {
  const folder = tempFolder();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const config = file('portico.yaml', allow('method: GET, path: "/services/v2/comment/{id}.json"'));
  const check = (rolesPath: string) => runInProcess(['check', '--config', config], { PORTICO_ROLES: rolesPath });
  const shown = await check(rolesFile);
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('OK: ') as string });
  expect(shown.err).toBe(
    `warning: ${config.slice(1)}:1 /undocumented/allow/0: has no effect: the request is documented as getComment\n`,
  );
  const failed = await check(file('roles.yaml', 'roles: { a: { permissions: [View list ideas] } }'));
  expect([failed.code, failed.err]).toEqual([
    1,
    expect.stringContaining('"View list ideas" is not a known permission'),
  ]);
});
