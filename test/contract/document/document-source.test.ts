import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { contractFolder } from '../../../src/contract/contract-files.ts';
import { parseWithCache, readSource } from '../../../src/contract/document/document-source.ts';
import type { OpenApiDocument } from '../../../src/contract/openapi-document.ts';
import { StartFault } from '../../../src/model/fault.ts';
import { document } from '../sample.ts';

const contractSource = readSource(contractFolder());
// The document is small because nearly every test parses it more than once.
const source = {
  text: 'openapi: 3.1.0\ninfo:\n  title: small\n  # a comment\n  version: 1.0.0\n',
  extensions: '{ "type": "object" }',
};
const folders: string[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Returns a path, inside a temporary folder, at which there is no folder yet. */
function newFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'portico-document-'));
  folders.push(parent);
  return join(parent, 'contract');
}

const filesIn = (folder: string) => readdirSync(folder).map((name) => join(folder, name));

/** Replaces the only stored document with a different document that has a correct checksum. */
function plant(folder: string): void {
  const [file = ''] = filesIn(folder);
  const other = newFolder();
  parseWithCache({ ...source, text: PLANTED }, other);
  writeFileSync(file, readFileSync(filesIn(other)[0] ?? ''));
}

const PLANTED = source.text.replace('small', 'planted');
const titleOf = (parsed: OpenApiDocument) => (parsed as unknown as { info: { title: string } }).info.title;
const titleFrom = (folder: string | undefined) => titleOf(parseWithCache(source, folder));

describe('a parsed document', () => {
  it('is equal to the YAML, on the first start and on the next', () => {
    const folder = newFolder();
    expect(parseWithCache(contractSource, folder)).toEqual(document);
    expect(filesIn(folder)).toHaveLength(1);
    expect(JSON.stringify(parseWithCache(contractSource, folder))).toBe(JSON.stringify(document));
  });

  it('is read from the folder instead of the YAML', () => {
    const folder = newFolder();
    parseWithCache(source, folder);
    plant(folder);
    expect(titleFrom(folder)).toBe('planted');
  });

  it.each([
    ['the document', { ...source, text: source.text.replace('1.0.0', '1.0.1') }],
    ['a comment of the document', { ...source, text: `${source.text}# changed\n` }],
    ['the schema of its extensions', { ...source, extensions: `${source.extensions} ` }],
  ])('is not read for another source: changed %s', (_what, changed) => {
    const folder = newFolder();
    parseWithCache(source, folder);
    plant(folder);
    expect(titleOf(parseWithCache(changed, folder))).toBe('small');
    expect(filesIn(folder)).toHaveLength(2);
  });

  it.each([
    ['cut short', (text: string) => text.slice(0, -20)],
    ['empty', () => ''],
    ['something else', () => 'null'],
    ['changed in one character', (text: string) => text.replace('small', 'smart')],
  ])('is ignored and stored again when its file is %s', (_what, damage) => {
    const folder = newFolder();
    parseWithCache(source, folder);
    const [file = ''] = filesIn(folder);
    const whole = readFileSync(file, 'utf8');
    writeFileSync(file, damage(whole));
    expect(titleFrom(folder)).toBe('small');
    expect(readFileSync(file, 'utf8')).toBe(whole);
  });

  it("is stored in Node's compile cache, and not stored without that cache", () => {
    const { NODE_DISABLE_COMPILE_CACHE: _off, ...env } = process.env;
    const storedWith = (more: Readonly<Record<string, string>>) => {
      const url = new URL('../../../src/contract/document/document-source.ts', import.meta.url).href;
      const script = `import { parseWithCache } from '${url}'; parseWithCache(${JSON.stringify(source)})`;
      const args = ['--input-type=module', '--eval', script];
      const folder = newFolder();
      const options = { env: { ...env, NODE_COMPILE_CACHE: folder, ...more } };
      expect(spawnSync(process.execPath, args, options).status).toBe(0);
      const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
      return files.filter((name) => name.endsWith('.json'));
    };
    expect(storedWith({})).toEqual([expect.stringMatching(/^[^/]+\/contract\/[0-9a-f]+\.json$/)]);
    expect(storedWith({ NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual([]);
  });

  it('is not stored if its source has a configuration error', () => {
    const folder = newFolder();
    expect(() => parseWithCache({ ...source, text: '[]' }, folder)).toThrow(StartFault);
    expect(() => readdirSync(folder)).toThrow('ENOENT');
  });

  it('is parsed without an error if the folder cannot be created', () => {
    const folder = newFolder();
    writeFileSync(folder, 'a file');
    expect(titleFrom(folder)).toBe('small');
    expect(readFileSync(folder, 'utf8')).toBe('a file');
  });

  it('is readable for its owner only', () => {
    const folder = newFolder();
    parseWithCache(source, folder);
    expect([folder, ...filesIn(folder)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
  });

  it('replaces the oldest of sixteen stored documents', () => {
    const folder = newFolder();
    mkdirSync(folder, { mode: 0o700 });
    for (let age = 1; age <= 16; age += 1) {
      const old = join(folder, `${age}.json`);
      writeFileSync(old, '');
      utimesSync(old, Date.now() / 1000 - age * 60, Date.now() / 1000 - age * 60);
    }
    parseWithCache(source, folder);
    const names = readdirSync(folder);
    expect(names).toHaveLength(16);
    expect(names).not.toContain('16.json');
    expect(names).toContain('15.json');
  });
});

// The attack: the cached document determines what the gateway checks. In a shared folder, another user on the machine
// creates the files before Portico does, or changes those that Portico has stored. The checksum offers no protection,
// because it is not a secret.
describe('a parsed document that another user may have written', () => {
  const stored = () => {
    const folder = newFolder();
    parseWithCache(source, folder);
    plant(folder);
    return folder;
  };

  it.each([
    ['its folder is writable by everyone', (folder: string) => chmodSync(folder, 0o777)],
    ['its folder is writable by a group', (folder: string) => chmodSync(folder, 0o770)],
    ['its file is writable by everyone', (folder: string) => chmodSync(filesIn(folder)[0] ?? '', 0o666)],
    [
      'its file is a link',
      (folder: string) => {
        const [file = ''] = filesIn(folder);
        const elsewhere = join(folder, '..', 'elsewhere.json');
        writeFileSync(elsewhere, readFileSync(file));
        rmSync(file);
        symlinkSync(elsewhere, file);
      },
    ],
  ])('is ignored: %s', (_what, open) => {
    const folder = stored();
    open(folder);
    expect(titleFrom(folder)).toBe('small');
  });

  it('is ignored if its folder is a link', () => {
    const folder = stored();
    const link = newFolder();
    symlinkSync(folder, link);
    expect(titleFrom(link)).toBe('small');
  });

  it('is ignored if it belongs to another user', () => {
    const folder = stored();
    expect(titleFrom(folder)).toBe('planted');
    const own = process.geteuid?.() ?? 0;
    vi.spyOn(process, 'geteuid').mockReturnValue(own + 1);
    expect(titleFrom(folder)).toBe('small');
  });
});
