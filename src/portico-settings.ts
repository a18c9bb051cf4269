import {
  loadSettings as load,
  readSettings as read,
  type SettingsReading,
  type SettingsSources,
} from './config/load-settings.ts';
import type { Settings } from './config/settings.ts';
import { FEATURES } from './features.ts';

/** Loads the configuration of Portico with all its features; see `config/load-settings.ts`. */
export const loadSettings = (sources: SettingsSources): Settings => load(sources, FEATURES);

/** Reads the configuration of Portico with all its features; see `config/load-settings.ts`. */
export const readSettings = (sources: SettingsSources): SettingsReading => read(sources, FEATURES);
