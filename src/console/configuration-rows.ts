import { settingLeaves } from '../config/changed-keys.ts';
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

/** Returns all keys in the effective configuration, including defaults. The keys are sorted by name. */
export function configurationRows(settings: Settings): readonly ConfigurationRow[] {
  const { originOf, placeOf } = settings;
  const rows = settingLeaves(settings).map(({ path, value }) => {
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

function textOf(value: unknown): string {
  if (value === undefined) return 'not set';
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'string' ? withoutUserinfo(inner) : inner));
}

/** Masks the name and the password in URLs. */
function withoutUserinfo(text: string): string {
  return text.replaceAll(/(?<scheme>[a-z][a-z0-9+.-]*:\/\/)[^/?#\s]*@/gi, `$<scheme>${MASK}@`);
}
