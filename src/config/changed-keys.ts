import { createHash } from 'node:crypto';
import { pointerTo } from '../lib/json-pointer.ts';
import type { Fault } from '../model/fault.ts';
import { isSecretSetting } from '../privacy/secret-text.ts';
import type { Settings } from './settings.ts';

/** A key of the effective configuration, and its value. */
interface SettingLeaf {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The result of reloading the configuration. */
export type ReloadResult =
  | {
      readonly outcome: 'applied';
      /** The names of the changed keys and of the files whose content has changed. Empty if nothing has changed. */
      readonly changed: readonly string[];
      /** Problems that do not prevent the reload from being applied. */
      readonly warnings: readonly Fault[];
    }
  | { readonly outcome: 'refused'; readonly faults: readonly Fault[] };

// Properties of the settings that are not configuration keys.
const NOT_KEYS = new Set(['file', 'embedded']);

/** Returns all keys in the effective configuration, including defaults. */
export function settingLeaves(settings: Settings): readonly SettingLeaf[] {
  const { mode, ...rest } = settings;
  // Settings that the mode determines are included with their effective values, as are the checks.
  const cache = { ...rest.cache, enabled: rest.cache.enabled ?? mode.cache };
  const values = { ...rest, cache, mode: mode.name };
  return Object.entries(values)
    .filter(([key, value]) => typeof value !== 'function' && !NOT_KEYS.has(key))
    .flatMap(([key, value]) => leaves([key], value));
}

function leaves(path: readonly string[], value: unknown): SettingLeaf[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ path, value }];
  const entries = Object.entries(value as Record<string, unknown>);
  return entries.length === 0 ? [{ path, value }] : entries.flatMap(([name, inner]) => leaves([...path, name], inner));
}

/**
 * Returns the sorted names of the keys whose values differ. A key is omitted if it has its default value in both
 * configurations, because such a default depends only on another key. For example, the defaults of the checks depend on
 * the mode.
 */
export function changedKeys(before: Settings, after: Settings): readonly string[] {
  const [old, next] = [before, after].map(
    (settings) => new Map(settingLeaves(settings).map(({ path, value }) => [pointerTo(path), { path, value }])),
  );
  const all = new Map([...(old ?? []), ...(next ?? [])]);
  return (
    [...all]
      .filter(([pointer]) => JSON.stringify(old?.get(pointer)?.value) !== JSON.stringify(next?.get(pointer)?.value))
      // Empty sections are ignored, because they have no values of their own.
      .filter(([, { value }]) => JSON.stringify(value) !== '{}')
      .filter(([pointer]) => before.originOf(pointer) !== 'default' || after.originOf(pointer) !== 'default')
      .map(([, { path }]) => path.join('.'))
      .toSorted()
  );
}

/**
 * The keys that take effect only when the process starts. They belong to resources that are opened only once:
 * listeners, files that the process writes, connections to Redis, and the embedded upstream.
 */
export const RESTART_KEYS: readonly string[] = [
  'adminToken',
  'cors',
  'instance',
  'learn',
  'ledger',
  'ladder.file',
  'listen.adminHost',
  'listen.adminPort',
  'listen.headersTimeoutSeconds',
  'listen.host',
  'listen.keepAliveSeconds',
  'listen.maxHeaderBytes',
  'listen.port',
  'listen.requestTimeoutSeconds',
  'listen.tls',
  'overrides.file',
  'redis',
  'reference',
  'tracing',
  'workers',
];

/** Returns whether a key takes effect only when the process starts. */
function needsRestart(key: string): boolean {
  return RESTART_KEYS.some((prefix) => key === prefix || key.startsWith(`${prefix}.`));
}

/** Returns one error for each changed key that requires a restart. */
export function restartFaults(before: Settings, after: Settings): readonly Fault[] {
  const faultAt = (pointer: string, what: string): Fault => ({
    ...after.placeOf(pointer),
    message: `${what} takes effect only when the process starts`,
    suggestion: 'restore the previous value, or restart the process',
  });
  const keys = changedKeys(before, after).filter(needsRestart);
  const faults = keys.map((key) => faultAt(pointerTo(key.split('.')), `a change of ${key}`));
  if (before.embedded === after.embedded) return faults;
  // The embedded upstream, which is used if there is no upstream URL, is started together with the process and cannot
  // be started or stopped later.
  return [...faults, faultAt('/upstream/url', 'a switch between a real upstream and the reference server')];
}

/**
 * Matches the keys whose values may differ between gateways that behave in the same way: the name of the instance, the
 * addresses that it listens on, and the locations of files.
 */
const OWN_KEY =
  /^(?:instance|listen\.(?:host|port|adminHost|adminPort))$|(?:^|\.)(?:file|folder|db|overlays|baseline)$|File$/;

/**
 * Returns a digest of all keys and values, except secrets and the keys that may differ between gateways. Processes with
 * the same configuration have the same digest. `files` contains the contents of the files that the configuration names.
 */
export function settingsDigest(settings: Settings, files: readonly unknown[]): string {
  const shown = settingLeaves(settings).filter(
    ({ path }) => !isSecretSetting(path.join('.')) && !OWN_KEY.test(path.join('.')),
  );
  return createHash('sha256')
    .update(JSON.stringify([shown, files]))
    .digest('hex')
    .slice(0, 12);
}
