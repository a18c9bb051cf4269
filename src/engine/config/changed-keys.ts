import { hash } from 'node:crypto';
import { pointerTo } from '../../lib/json-pointer.ts';
import { isPlainObject, type PlainObject, withValueAt } from '../../lib/plain-object.ts';
import { isSecret, pointerOf } from './configurable.ts';
import type { Settings } from './settings.ts';

/** A key in the effective configuration, and its value. */
interface SettingLeaf {
  readonly path: readonly string[];
  readonly value: unknown;
}

// Properties of the `Settings` type that do not correspond to configuration keys.
const NOT_KEYS = new Set(['file', 'embedded', 'features', 'profile', 'renamed', 'cwd']);

/** Returns all keys in the effective configuration, including defaults. */
export function settingLeaves(settings: Settings): readonly SettingLeaf[] {
  const { mode, ...rest } = settings;
  // Settings determined by the mode, including the checks, are listed with their effective values.
  const cache = { ...rest.cache, enabled: rest.cache.enabled ?? mode.cache };
  // The rules are code, not configuration.
  const { rules: _, ...contract } = rest.contract;
  const engine: PlainObject = { ...rest, cache, contract, mode: mode.name };
  const values = rest.features.reduce(
    (all, { configurable, options }) =>
      configurable.options === undefined
        ? all
        : withValueAt(all, pointerOf(configurable), withUnset(configurable.options as PlainObject, options)),
    engine,
  );
  return Object.entries(values)
    .filter(([key, value]) => typeof value !== 'function' && !NOT_KEYS.has(key))
    .flatMap(([key, value]) => leaves([key], value));
}

/** Returns options with a member for each one that the schema has, so that those that are not set are listed, too. */
function withUnset({ properties }: PlainObject, value: unknown): unknown {
  if (!isPlainObject(value) || !isPlainObject(properties)) return value;
  const known = Object.entries(properties).map(([key, schema]) => [
    key,
    isPlainObject(schema) ? withUnset(schema, value[key]) : value[key],
  ]);
  return { ...value, ...(Object.fromEntries(known) as PlainObject) };
}

function leaves(path: readonly string[], value: unknown): SettingLeaf[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ path, value }];
  const entries = Object.entries(value as Record<string, unknown>);
  return entries.length === 0 ? [{ path, value }] : entries.flatMap(([name, inner]) => leaves([...path, name], inner));
}

/**
 * Returns the sorted names of the keys whose values differ. A key is omitted if it has its default value in both
 * configurations, because such a default depends only on another key. For example, the defaults for the checks depend
 * on the mode.
 */
export function changedKeys(before: Settings, after: Settings): readonly string[] {
  const [old, next] = [before, after].map(
    (settings) => new Map(settingLeaves(settings).map(({ path, value }) => [pointerTo(path), { path, value }])),
  );
  const all = new Map([...(old ?? []), ...(next ?? [])]);
  return (
    [...all]
      .filter(([pointer]) => JSON.stringify(old?.get(pointer)?.value) !== JSON.stringify(next?.get(pointer)?.value))
      // Empty sections are ignored, because they contain no values.
      .filter(([, { value }]) => JSON.stringify(value) !== '{}')
      .filter(([pointer]) => before.originOf(pointer) !== 'default' || after.originOf(pointer) !== 'default')
      .map(([, { path }]) => path.join('.'))
      .toSorted()
  );
}

/**
 * Matches the keys whose values may differ between gateways that behave identically: the instance's name, the addresses
 * on which it listens, the address at which it reaches Redis, and the locations of files.
 */
const OWN_KEY =
  /^(?:instance|redis\.url|listen\.(?:host|port|adminHost|adminPort))$|(?:^|\.)(?:file|folder|db|overlays|baseline)$|File$/;

/** The keys and values of settings, as JSON, except secrets and the keys that may differ between gateways. */
const comparable = new WeakMap<Settings, string>();

/**
 * Returns a digest of all keys and values, except secrets and the keys that may differ between gateways. Processes with
 * the same configuration have the same digest. `files` contains the contents of the files named in the configuration,
 * which can change while the settings remain: the settings are read only for their first digest.
 */
export function settingsDigest(settings: Settings, files: readonly unknown[]): string {
  let shown = comparable.get(settings);
  if (shown === undefined) {
    shown = comparableOf(settings);
    comparable.set(settings, shown);
  }
  return hash('sha256', `[${shown},${JSON.stringify(files)}]`).slice(0, 12);
}

function comparableOf(settings: Settings): string {
  const features = settings.features.map(({ configurable }) => configurable);
  const shown = settingLeaves(settings).filter(
    ({ path, value }) => !isSecret(path.join('.'), value, features) && !OWN_KEY.test(path.join('.')),
  );
  return JSON.stringify(shown);
}
