import {
  loadSettings as load,
  readSettings as read,
  type SettingsReading,
  type SettingsSources,
} from './engine/config/load-settings.ts';
import type { Product } from './engine/config/product.ts';
import type { Settings } from './engine/config/settings.ts';
import { type ContractOptions, CONTRACT_DEFAULTS as DEFAULTS } from './engine/contract/contract-options.ts';
import { FEATURES } from './features.ts';
import { PROFILE } from './profile/profile.ts';

/** The profile and the features of Portico. */
export const PORTICO = { profile: PROFILE, features: FEATURES } satisfies Product;

/** Loads the configuration of Portico with all its features; see `config/load-settings.ts`. */
export const loadSettings = (sources: SettingsSources): Settings => load(sources, PORTICO);

/** Reads the configuration of Portico with all its features; see `config/load-settings.ts`. */
export const readSettings = (sources: SettingsSources): SettingsReading => read(sources, PORTICO);

/** The default contract options, with the rules of the community Q&A API. */
export const CONTRACT_DEFAULTS: ContractOptions = { ...DEFAULTS, rules: PROFILE };
