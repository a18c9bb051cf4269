import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { lintContract, runLinter } from '../../../tools/lint-contract.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

const root = join(import.meta.dirname, '..', '..', '..');

describe('the linter of the contract', () => {
  it('finds no error in the document', async () => {
    const [out, err] = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')].map((one) =>
      one.mockImplementation(() => undefined),
    );
    expect(await runLinter()).toBe(0);
    expect(out).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('0 errors, 0 warnings'));
    expect(err).not.toHaveBeenCalled();
  });

  // Spectral, and YAML 1.1 readers in other languages, must be able to read the contract. Linting takes most of a
  // second, so one run covers all errors.
  it('reports what YAML 1.1 reads differently, a list without items, a missing contact and a missing description', async () => {
    const changes = [
      ["'2019-02-06 15:01:00.0'", '2019-02-06 15:01:00.0', 'actionDate: a YAML 1.1 reader reads another value'],
      ['summary: Returns a comment', 'summary: yes', '/summary: a YAML 1.1 reader reads another value'],
      ["'Could you add the log?'", 'Could you add the log?', 'quote the text'],
      ['          type: array\n          items: true\n', '          type: array\n', 'needs items'],
      ['  contact:\n    name: The maintainers of Portico\n', '', 'info-contact'],
      ['      description: All items have the type `kbentry`.\n', '', 'operation-description'],
    ] as const;
    const folder = tempFolder();
    cpSync(join(root, 'schemas', 'vendor-extensions.schema.json'), join(folder, 'vendor-extensions.schema.json'));
    let source = readFileSync(join(root, 'schemas', 'openapi.yaml'), 'utf8');
    for (const [text, changed] of changes) {
      expect(source).toContain(text);
      source = source.replace(text, () => changed);
    }
    writeFileSync(join(folder, 'openapi.yaml'), source);
    const { errors } = await lintContract(folder);
    for (const [, , message] of changes) expect(errors).toContainEqual(expect.stringContaining(message));
  });
});
