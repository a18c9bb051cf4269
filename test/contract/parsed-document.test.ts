import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { contractFolder } from '../../src/contract/contract-files.ts';
import { readSource } from '../../src/contract/document-source.ts';
import { PARSED_FILE, type ParsedDocument, readParsed } from '../../src/contract/parsed-document.ts';
import { readDocument } from '../../src/contract/read-document.ts';
import { document } from './sample.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A copy of the contract with one of its files changed. */
function copy(file: string, change: (text: string) => string): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-parsed-'));
  folders.push(folder);
  cpSync(contractFolder(), folder, { recursive: true });
  writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')));
  return folder;
}

const read = (folder: string) => readParsed(folder, readSource(folder));
const oneMorePermission = (text: string) => {
  const parsed = JSON.parse(text) as ParsedDocument;
  return JSON.stringify({ ...parsed, document: { ...parsed.document, 'x-permissions': [{ name: 'planted' }] } });
};

describe('the document as it was parsed before', () => {
  it('is what the YAML says', () => {
    expect(read(contractFolder())).toEqual(document);
    expect(JSON.stringify(read(contractFolder()))).toBe(JSON.stringify(document));
  });

  it('is taken in place of the YAML that it was parsed from', () => {
    const folder = copy(PARSED_FILE, oneMorePermission);
    expect(read(folder)?.['x-permissions']).toEqual([{ name: 'planted' }]);
  });

  it.each([
    ['the document', 'openapi.yaml', (text: string) => text.replace('View list idea', 'View list kbentry')],
    ['a comment of the document', 'openapi.yaml', (text: string) => `${text}# changed\n`],
    ['the schema of its extensions', 'vendor-extensions.schema.json', (text: string) => `${text} `],
  ])('is left alone once %s has changed', (_what, file, change) => {
    expect(read(copy(file, change))).toBeUndefined();
  });

  it('is left alone once the document has changed, and the YAML holds', () => {
    const folder = copy('openapi.yaml', (text) => text.replace('summary: Uploads a', 'summary: Changes a'));
    expect(readDocument(folder, []).texts[0]).toContain('summary: Changes a');
    expect(JSON.stringify(readDocument(folder, []).document)).toContain('"summary":"Changes a');
  });

  it.each([
    ['broken', () => '{'],
    ['empty', () => ''],
    ['something else', () => 'null'],
  ])('is left alone when it is %s, and the YAML holds', (_what, change) => {
    const folder = copy(PARSED_FILE, change);
    expect(read(folder)).toBeUndefined();
    expect(readDocument(folder, []).document).toEqual(document);
  });
});
