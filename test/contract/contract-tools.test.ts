import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lintContract } from '../../tools/lint-contract.ts';
import { tempFolder } from '../builders/temp-folder.ts';

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

  // The contract must be readable by Spectral and by YAML 1.1 readers in other languages.
  it.each([
    ['an unquoted date', "'2019-02-06 15:01:00.0'", '2019-02-06 15:01:00.0', 'reads another value'],
    ['an unquoted yes', 'summary: Returns a comment', 'summary: yes', 'reads another value'],
    ['a question mark inside braces', "'Could you add the log?'", 'Could you add the log?', 'quote the text'],
    ['a list without items', 'list: { type: array, items: true }', 'list: { type: array }', 'needs items'],
    [
      'a missing contact',
      '  contact:\n    name: The maintainers of Portico\n    url: https://portico.invalid/\n',
      '',
      'info-contact',
    ],
    [
      'an operation without a description',
      '      description: All items have the type `kbentry`.\n',
      '',
      'description',
    ],
  ])('reports %s', async (_name, text, changed, message) => {
    const folder = tempFolder();
    cpSync(join(root, 'schemas', 'vendor-extensions.schema.json'), join(folder, 'vendor-extensions.schema.json'));
    const source = readFileSync(join(root, 'schemas', 'openapi.yaml'), 'utf8');
    expect(source).toContain(text);
    writeFileSync(
      join(folder, 'openapi.yaml'),
      source.replace(text, () => changed),
    );
    const { errors } = await lintContract(folder);
    expect(errors).toContainEqual(expect.stringContaining(message));
  });
});
