import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadStart, readRoles } from '../../src/engine/load-start.ts';
import type { Settings } from '../../src/engine/config/settings.ts';
import { FEATURES } from '../../src/features.ts';
import { contractFolder } from '../../src/engine/contract/contract-files.ts';
import { StartFault, type Fault } from '../../src/engine/model/fault.ts';
import { OBSERVED_OPERATIONS } from '../builders/operations.ts';
import { REAL, settingsOf } from '../builders/settings-of.ts';

const ROLES = 'roles:\n  standard:\n    permissions: [View the questions list]\naccounts: []\n';
const BAD_ROLES = 'roles:\n  standard:\n    inherits: [nobody]\n';

function faultsOf(settings: Settings, env: Record<string, string> = {}): readonly Fault[] {
  try {
    loadStart(settings, { features: FEATURES, env });
    return [];
  } catch (error) {
    if (error instanceof StartFault) return error.faults;
    throw error;
  }
}

const withUrl = (settings: Settings, url: string): Settings => ({
  ...settings,
  upstream: { ...settings.upstream, url },
});

describe('a start', () => {
  it('has the compiled contract, permissions and upstream', () => {
    const start = loadStart(settingsOf(REAL, ROLES), { features: FEATURES, env: {} });
    expect(start.contract.operations).toHaveLength(OBSERVED_OPERATIONS.length);
    expect(start.roles.roles.has('standard')).toBe(true);
    expect(start.permissions.requirementOf('listQuestions')).toBeDefined();
    expect(start.address).toEqual({ origin: 'http://127.0.0.1:9', basePath: '/legacy' });
    expect(start.isPermissionMessage("You don't have permission to do this action.", [])).toBe(true);
    expect(start.serviceAuthorization).toBeUndefined();
  });

  it('accepts the configured parameters', () => {
    const settings = settingsOf({ parameters: { allow: { listQuestions: ['colour'] } } }, ROLES);
    const { contract } = loadStart(settings, { features: FEATURES, env: {} });
    const match = contract.match('/services/v2/question.json');
    const operation = match?.byMethod.get('GET');
    if (match === undefined || operation === undefined) throw new Error('no such operation');
    expect(contract.decodeParameters(operation, match, 'colour=blue').violations).toEqual([]);
    expect(contract.decodeParameters(operation, match, 'size=9').violations).toHaveLength(1);
  });

  it('has the contract of the configured folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-contract-'));
    cpSync(contractFolder(), folder, { recursive: true });
    const file = join(folder, 'openapi.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('/question.json:', '/ask.json:'));
    const { contract } = loadStart(settingsOf({ contract: { folder } }, ROLES), { features: FEATURES, env: {} });
    expect(contract.match('/services/v2/ask.json')?.byMethod.get('GET')?.id).toBe('listQuestions');
    rmSync(folder, { recursive: true });
    expect(faultsOf(settingsOf({ contract: { folder } }, ROLES))).toMatchObject([{ source: file }]);
  });

  it('has the same contract version whatever parameters are configured', () => {
    const plain = loadStart(settingsOf({}, ROLES), { features: FEATURES, env: {} }).contract.version;
    const settings = settingsOf({ parameters: { allow: { listQuestions: ['colour'] } } }, ROLES);
    expect(loadStart(settings, { features: FEATURES, env: {} }).contract.version).toBe(plain);
  });

  it('has the accepted violations of the feature that reads them, if there is one', () => {
    const settings = settingsOf({ contract: { baseline: 'baseline.yaml' } }, ROLES);
    expect(loadStart(settings, { features: FEATURES, env: {} }).baseline?.read()).toEqual({ accepted: [] });
    expect(loadStart(settings, { features: [], env: {} }).baseline).toBeUndefined();
    expect(loadStart(settingsOf({}, ROLES), { features: FEATURES, env: {} }).baseline).toBeUndefined();
  });

  it('has no demo account with a real upstream', () => {
    const roles = ROLES.replace('accounts: []', 'accounts:\n  - {name: admin, roles: [standard], demo: true}');
    expect(loadStart(settingsOf({}, roles), { features: FEATURES, env: {} }).roles.accounts).toHaveLength(1);
    expect(loadStart(settingsOf(REAL, roles), { features: FEATURES, env: {} }).roles.accounts).toHaveLength(0);
  });
});

describe('the configuration errors of a start', () => {
  it('are reported in one run: names of operations, roles, upstream, service account and messages', () => {
    const settings = settingsOf(
      {
        operations: { listQuestion: { errors: 'legacy' } },
        parameters: { allow: { listUsers: ['x'] } },
        upstream: {
          url: 'http://127.0.0.1:9',
          credentials: { kind: 'service', username: 'portico', passwordEnv: 'SECRET' },
        },
        checks: { authentication: 'enforce', permissions: 'enforce' },
        mode: 'strict',
      },
      BAD_ROLES,
      { SECRET: 'x' },
    );
    const broken = withUrl(
      { ...settings, upstream: { ...settings.upstream, permissionMessages: ['('] } },
      'ftp://upstream',
    );
    const messages = faultsOf(broken).map(({ message }) => message);
    expect(messages).toEqual([
      expect.stringContaining('listQuestion is not an operation'),
      expect.stringContaining('listUsers is not an operation'),
      expect.stringContaining('nobody'),
      expect.stringContaining('must begin with http://'),
      expect.stringContaining('SECRET is not set'),
      expect.stringContaining('invalid regular expression'),
    ]);
  });

  it('have their place in the configuration', () => {
    const settings = settingsOf({ operations: { listQuestion: {} } }, ROLES);
    expect(faultsOf(settings)).toMatchObject([
      { source: expect.stringMatching(/portico\.yaml/) as string, pointer: '/operations/listQuestion' },
    ]);
    expect(faultsOf(withUrl(settingsOf(REAL, ROLES), 'nonsense'))).toMatchObject([{ pointer: '/upstream/url' }]);
  });

  it('include a roles file that cannot be read', () => {
    const settings = settingsOf({ roles: { file: 'missing.yaml' } });
    expect(faultsOf(withUrl(settings, 'nonsense'))).toMatchObject([
      { source: expect.stringMatching(/missing\.yaml$/) as string, suggestion: 'set roles.file to its path' },
      { message: 'is not an absolute URL' },
    ]);
  });

  it('include an unknown permission, unless an allowed path requires it', () => {
    const roles = ROLES.replace('View the questions list', 'Answer questions');
    const path = { method: 'POST', path: '/services/v2/question/{id}/answer.json', permission: 'Answer questions' };
    expect(faultsOf(settingsOf({}, roles))).toHaveLength(1);
    expect(faultsOf(settingsOf({ undocumented: { allow: [path] } }, roles))).toEqual([]);
  });

  it('include demo accounts that the verifier file would accept with a real upstream', () => {
    const roles = ROLES.replace('accounts: []', 'accounts:\n  - {name: admin, roles: [standard], demo: true}');
    const config = { ...REAL, mode: 'strict', authentication: { verifier: 'file' } };
    expect(faultsOf(settingsOf(config, roles))).toMatchObject([
      { message: expect.stringContaining('admin') as string },
    ]);
  });

  it('do not include a service account whose password is in its variable', () => {
    const settings = settingsOf(
      {
        mode: 'strict',
        upstream: {
          url: 'http://127.0.0.1:9',
          credentials: { kind: 'service', username: 'portico', passwordEnv: 'SECRET' },
        },
      },
      ROLES,
      { SECRET: 'x' },
    );
    expect(loadStart(settings, { features: FEATURES, env: { SECRET: 'x' } }).serviceAuthorization).toBe(
      `Basic ${btoa('portico:x')}`,
    );
  });
});

describe('the roles file', () => {
  const UNKNOWN = 'roles:\n  standard:\n    permissions: [Fly]\n';
  const catalogue = { permissions: ['Walk'], groups: [], flags: [] };

  it('is checked for names that are not in the contract', () => {
    expect(() => readRoles(settingsOf({}, UNKNOWN), catalogue)).toThrow(StartFault);
  });

  it('is checked without names if there is no contract', () => {
    expect(readRoles(settingsOf({}, UNKNOWN)).roles.has('standard')).toBe(true);
    expect(() => readRoles(settingsOf({}, 'roles: [what]\n'))).toThrow(StartFault);
  });
});
