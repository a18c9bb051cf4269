import type { Origin, Settings } from '../config/settings.ts';
import { pointerTo } from '../lib/json-pointer.ts';
import { isSecretSetting } from '../privacy/secret-text.ts';

/** A key in the effective configuration. */
interface ConfigurationRow {
  /** The full key, such as `listen.adminPort`. */
  readonly key: string;
  /** The value as JSON. A secret is masked. */
  readonly value: string;
  readonly origin: Origin;
  /** The line of the file, the environment variable or the flag that the value comes from. Undefined for a default. */
  readonly source: string | undefined;
  readonly secret: boolean;
}

const MASK = '••••••';
// These properties of the settings are not configuration keys.
const NOT_SHOWN = new Set(['file', 'embedded']);

/** Returns all keys in the effective configuration, including defaults. The keys are sorted by name. */
export function configurationRows(settings: Settings): readonly ConfigurationRow[] {
  const { mode, originOf, placeOf, ...rest } = settings;
  // For the checks, and for settings that the mode determines, the effective value is shown.
  const cache = { ...rest.cache, enabled: rest.cache.enabled ?? mode.cache };
  const values = { ...rest, cache, mode: mode.name };
  const rows = Object.entries(values)
    .filter(([key, value]) => typeof value !== 'function' && !NOT_SHOWN.has(key))
    .flatMap(([key, value]) => leaves(key, value))
    .map(([path, value]) => {
      const pointer = pointerTo(path);
      const key = path.join('.');
      const secret = isSecretSetting(key) && value !== undefined;
      const origin = originOf(pointer);
      return {
        key,
        value: secret ? MASK : textOf(value),
        origin,
        source: origin === 'default' ? undefined : placeOf(pointer).source,
        secret,
      };
    });
  return rows.sort((a, b) => a.key.localeCompare(b.key, 'en'));
}

function leaves(key: string, value: unknown, above: readonly string[] = []): [readonly string[], unknown][] {
  const path = [...above, key];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, value]];
  const entries = Object.entries(value as Record<string, unknown>);
  return entries.length === 0 ? [[path, value]] : entries.flatMap(([name, inner]) => leaves(name, inner, path));
}

function textOf(value: unknown): string {
  if (value === undefined) return 'not set';
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'string' ? withoutUserinfo(inner) : inner));
}

/** Masks the name and the password in URLs. */
function withoutUserinfo(text: string): string {
  return text.replaceAll(/(?<scheme>[a-z][a-z0-9+.-]*:\/\/)[^/?#\s]*@/gi, `$<scheme>${MASK}@`);
}
