import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSettings } from '../../src/portico-settings.ts';
import { type Settings, withUpstreamUrl } from '../../src/engine/config/settings.ts';
import { tempFolder } from './temp-folder.ts';

/**
 * Returns the settings loaded from a configuration file. The file is in a separate folder, which is deleted after the
 * tests.
 */
export function settingsOf(
  config: Readonly<Record<string, unknown>> = {},
  roles?: string,
  env: Readonly<Record<string, string>> = {},
): Settings {
  const folder = tempFolder();
  const own = roles === undefined ? {} : { roles: { file: 'roles.yaml' } };
  if (roles !== undefined) writeFileSync(join(folder, 'roles.yaml'), roles, { mode: 0o600 });
  writeFileSync(join(folder, 'portico.yaml'), JSON.stringify({ ...own, ...config }), { mode: 0o600 });
  const settings = loadSettings({ env: { ...env, PORTICO_CONFIG: join(folder, 'portico.yaml') }, cwd: folder });
  return settings.embedded ? withUpstreamUrl(settings, 'http://127.0.0.1:9') : settings;
}

/** A configuration with a real upstream. */
export const REAL = { upstream: { url: 'http://127.0.0.1:9/legacy' } };
