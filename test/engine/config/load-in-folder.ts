import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SettingsSources } from '../../../src/engine/config/load-settings.ts';
import { loadSettings } from '../../../src/portico-settings.ts';
import type { Settings } from '../../../src/engine/config/settings.ts';
import { StartFault, type Fault } from '../../../src/engine/model/fault.ts';

/** Loads settings from a temporary folder in which `config/portico.yaml` contains the given text. */
export function load(yaml: string, more: Partial<SettingsSources> = {}): Settings {
  const folder = mkdtempSync(join(tmpdir(), 'portico-config-'));
  try {
    mkdirSync(join(folder, 'config'));
    writeFileSync(join(folder, 'config', 'portico.yaml'), yaml, { mode: 0o600 });
    return loadSettings({ env: {}, cwd: folder, ...more });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the configuration errors that loading throws, or an empty list if it succeeds. */
export function faultsOf(yaml: string, more: Partial<SettingsSources> = {}): readonly Fault[] {
  try {
    load(yaml, more);
    return [];
  } catch (error) {
    if (error instanceof StartFault) return error.faults;
    throw error;
  }
}
