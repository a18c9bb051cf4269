import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

function run(tool: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, tool), ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('the linter of the contract', () => {
  it('has a help text and rejects unknown arguments', () => {
    const help = run('tools/lint-contract.ts', '--help');
    expect(help.status).toBe(0);
    expect(help.stdout).toContain('usage: ');
    const unknown = run('tools/lint-contract.ts', '--chekc');
    expect(unknown.status).toBe(2);
    expect(unknown.stderr).toContain('unknown argument --chekc');
  });

  it('finds no error in the document', () => {
    const lint = run('tools/lint-contract.ts');
    expect(lint.status).toBe(0);
    expect(lint.stdout).toContain('0 errors, 0 warnings');
    expect(lint.stderr).toBe('');
  });
});
