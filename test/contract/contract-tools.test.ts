import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONTRACT_DEFAULTS } from '../../src/contract/contract-options.ts';
import { loadContract } from '../../src/contract/load-contract.ts';
import { contract } from './sample.ts';

const root = join(import.meta.dirname, '..', '..');

function run(tool: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, tool), ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('the contract tools', () => {
  it.each(['tools/schemas/main.ts', 'tools/lint-contract.ts'])(
    '%s has a help text and rejects unknown arguments',
    (tool) => {
      const help = run(tool, '--help');
      expect(help.status).toBe(0);
      expect(help.stdout).toContain('usage: ');
      const unknown = run(tool, '--chekc');
      expect(unknown.status).toBe(2);
      expect(unknown.stderr).toContain('unknown argument --chekc');
    },
  );

  it('find that the schemas are up to date', () => {
    const check = run('tools/schemas/main.ts', '--check');
    expect(check.status).toBe(0);
    expect(check.stdout).toContain('fresh');
  });

  it('generate the schemas of a document in another folder and find that they are up to date', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-folder-'));
    for (const name of ['openapi.yaml', 'vendor-extensions.schema.json'])
      cpSync(join(root, 'schemas', name), join(folder, name));
    expect(run('tools/schemas/main.ts', '--check', '--folder', folder).status).toBe(1);
    expect(run('tools/schemas/main.ts', '--folder', folder).status).toBe(0);
    expect(run('tools/schemas/main.ts', '--folder', folder, '--check').status).toBe(0);
    expect(loadContract({ ...CONTRACT_DEFAULTS, folder }).version).toBe(contract.version);
    rmSync(folder, { recursive: true });
    expect(run('tools/schemas/main.ts', '--folder').status).toBe(2);
  });

  it('find no error in the document', () => {
    const lint = run('tools/lint-contract.ts');
    expect(lint.status).toBe(0);
    expect(lint.stdout).toContain('0 errors, 0 warnings');
    expect(lint.stderr).toBe('');
  });
});
