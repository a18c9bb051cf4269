import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { configSchema } from '../src/engine/config/config-schema.ts';
import { PORTICO, loadSettings } from '../src/portico-settings.ts';
import { variablesOf } from '../src/engine/config/config-sources.ts';
import { readText, sectionOf, tableBy } from './readme/tables.ts';

/** Part of the configuration schema, with the members that this test reads. */
interface SchemaPart {
  readonly properties?: Readonly<Record<string, SchemaPart>>;
}

/** Returns the dotted names of all keys that have no subkeys with fixed names. */
function leaves({ properties }: SchemaPart, trail: readonly string[] = []): string[] {
  const children = Object.entries(properties ?? {});
  if (children.length === 0) return [trail.join('.')];
  return children.flatMap(([name, child]) => leaves(child, [...trail, name]));
}

describe('the page of the configuration', () => {
  const page = readText('docs/configuration.md');
  const schema: SchemaPart = configSchema(PORTICO);
  const reference = tableBy(page, 'key');
  const folder = mkdtempSync(join(tmpdir(), 'portico-configuration-page-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('lists every environment variable, and no other', () => {
    const rows = tableBy(sectionOf(page, 'Environment variables'), 'environment variable');
    const documented = rows.flatMap((row) => (row['environment variable'] ?? '').split(', '));
    expect(documented.toSorted()).toEqual(['PORTICO_CONFIG', ...Object.keys(variablesOf(PORTICO))].toSorted());
  });

  it('lists every key, and no other', () => {
    expect(reference.map((row) => row['key'] ?? '').toSorted()).toEqual(leaves(schema).toSorted());
  });

  it('states the defaults of the program', () => {
    const file = join(folder, 'portico.yaml');
    writeFileSync(file, '{}\n');
    const settings = loadSettings({ env: { PORTICO_CONFIG: file }, cwd: folder });
    const ofFeatures = settings.features.map(({ configurable, options }) => [configurable.name, options] as const);
    const values = { ...settings, ...Object.fromEntries(ofFeatures) };
    const wrong = reference.filter((row) => row['default'] !== defaultOf(row['key'] ?? '', values, folder));
    expect(wrong).toEqual([]);
  });
});

/** Defaults that depend on other values or are too long for a table, each with the text that the page shows instead. */
const IN_WORDS: Readonly<Record<string, string>> = {
  mode: 'by upstream',
  errors: 'by mode',
  'authentication.verifier': 'by upstream',
  'contract.folder': "the package's schemas/",
  'contract.inferred': 'by upstream',
  'contract.scanner': 'on',
  'listen.lameDuckSeconds': 'by upstream',
  'contract.candidate.folder': 'contract.folder',
  'contract.candidate.overlays': '[]',
  'cache.enabled': 'by mode',
  'roles.unmapped': 'by verifier',
  'upstream.permissionMessages': 'five English phrases',
};

function defaultOf(key: string, settings: object, folder: string): string {
  if (key.startsWith('checks.')) return 'by mode';
  const words = IN_WORDS[key];
  if (words !== undefined) return words;
  const value = key
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], settings);
  const text = JSON.stringify(value) as string | undefined;
  return text?.replace(`${folder}/`, '') ?? 'none';
}
