import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configSchema } from '../../src/engine/config/config-schema.ts';
import { variablesOf } from '../../src/engine/config/config-sources.ts';
import { RESTART_KEYS } from '../../src/engine/reload.ts';
import { FEATURES } from '../../src/features.ts';
import { PORTICO, loadSettings } from '../../src/portico-settings.ts';
import { code, table, withLinks } from './markdown.ts';

/** Part of the configuration schema, with the members that the table needs. */
interface SchemaPart {
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaPart>>;
  readonly items?: SchemaPart;
}

/** Returns a table of all configuration keys with their defaults and descriptions. */
export function configurationKeys(): string {
  const { properties = {} }: SchemaPart = configSchema(PORTICO);
  return table(['key', 'default', 'meaning'], rowsOf(properties, '', defaultSettings()));
}

function rowsOf(properties: NonNullable<SchemaPart['properties']>, trail: string, values: unknown): string[][] {
  return Object.entries(properties).flatMap(([name, part]) => {
    const value = (values as Readonly<Record<string, unknown>> | undefined)?.[name];
    return [rowOf(`${trail}${name}`, part, value), rowsBelow(`${trail}${name}`, part, value)].flat();
  });
}

function rowOf(key: string, { description, properties, default: standard }: SchemaPart, value: unknown): string[][] {
  if (description !== undefined) {
    const variables = properties === undefined ? variablesFor(key) : '';
    const meaning = `${withLinks(description)}${variables}${RESTART.has(key) ? ' _Restart._' : ''}`;
    return [[code(key), properties === undefined ? defaultOf(key, value ?? standard) : '', meaning]];
  }
  if (properties === undefined) throw new Error(`${key} has no description in its schema`);
  return [];
}

function rowsBelow(key: string, { properties, items }: SchemaPart, value: unknown): string[][] {
  if (properties !== undefined) return rowsOf(properties, `${key}.`, value);
  return items?.properties === undefined ? [] : rowsOf(items.properties, `${key}[].`, undefined);
}

/** The keys that take effect only at a start, with all keys below them. */
const RESTART = new Set([
  ...RESTART_KEYS,
  ...FEATURES.flatMap(({ name, needsRestart }) => (needsRestart === true ? [name] : [])),
]);

function variablesFor(key: string): string {
  const pointer = `/${key.replaceAll('.', '/')}`;
  const names = Object.entries(variablesOf(PORTICO))
    .filter(([, at]) => at === pointer || at.startsWith(`${pointer}/`))
    .map(([name]) => code(name));
  return names.length === 0 ? '' : ` Variable: ${names.join(', ')}.`;
}

/** The defaults that depend on other settings, each with the words that the page explains. */
const DEPENDENT: Readonly<Record<string, string>> = {
  mode: 'by upstream',
  errors: 'by mode',
  'authentication.verifier': 'by upstream',
  'cache.enabled': 'by mode',
  'contract.inferred': 'by upstream',
  'listen.lameDuckSeconds': 'by upstream',
  'roles.unmapped': 'by verifier',
};

/** The defaults that have a name or are long. */
const NAMED: Readonly<Record<string, string>> = {
  'contract.folder': "the package's `schemas/`",
  'contract.scanner': code('on'),
  'contract.candidate.folder': code('contract.folder'),
  'upstream.permissionMessages': 'five English phrases',
};

function defaultOf(key: string, value: unknown): string {
  const words = key.startsWith('checks.') ? 'by mode' : (DEPENDENT[key] ?? NAMED[key]);
  return words ?? (value === undefined ? '' : code(JSON.stringify(value)));
}

/** Returns the settings of an empty configuration file, in which paths are relative to it. */
function defaultSettings(): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'portico-pages-'));
  try {
    const file = join(folder, 'portico.yaml');
    writeFileSync(file, '{}\n');
    const settings = loadSettings({ env: { PORTICO_CONFIG: file }, cwd: folder });
    const ofFeatures = settings.features.map(({ configurable, options }) => [configurable.name, options] as const);
    const text = JSON.stringify({ ...settings, ...Object.fromEntries(ofFeatures) });
    return JSON.parse(text.replaceAll(`${folder}/`, ''));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
