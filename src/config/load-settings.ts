import { StartFault, type Fault } from '../model/fault.ts';
import { checkConfig, type ConfigProblem } from './check-config.ts';
import { configPath, readConfigFile } from './config-file.ts';
import { crossFaults } from './cross-faults.ts';
import { readEnvironment, type Environment, type Override } from './environment.ts';
import { withValueAt } from './plain-object.ts';
import type { Origin, Place, Settings } from './settings.ts';
import { toSettings } from './to-settings.ts';

/** Where the configuration comes from. */
export interface SettingsSources {
  readonly env: Environment;
  readonly cwd: string;
  /** What flags of the command line set; they win over everything. */
  readonly flags?: readonly Override[];
}

/** Loads the configuration: flags over environment over file over defaults; throws StartFault with every fault found. */
export function loadSettings(sources: SettingsSources): Settings {
  const file = readConfigFile(configPath(sources.env, sources.cwd), sources.cwd);
  const environment = readEnvironment(sources.env);
  const overrides = [...environment.overrides, ...(sources.flags ?? [])];
  const raw = overrides.reduce((value, { pointer, value: set }) => withValueAt(value, pointer, set), file.value);

  const overrideAt = (pointer: string) => overrides.findLast((override) => covers(override.pointer, pointer));
  const placeOf = (pointer: string): Place => {
    const override = overrideAt(pointer) ?? overrides.findLast((below) => covers(pointer, below.pointer));
    return override === undefined || has(file.value, pointer)
      ? { source: override === undefined ? file.locate(pointer) : override.source, pointer }
      : { source: override.source, pointer: '' };
  };
  const placed = ({ pointer, ...problem }: ConfigProblem): Fault => ({ ...placeOf(pointer), ...problem });

  const early = [...file.faults, ...environment.faults, ...checkConfig(raw).map(placed)];
  if (early.length > 0) throw new StartFault(inOrder(early));
  const originOf = (pointer: string): Origin =>
    overrideAt(pointer)?.kind ?? (has(file.value, pointer) ? 'file' : 'default');
  const settings = toSettings(raw, { file: file.name, folder: file.folder, cwd: sources.cwd, originOf, placeOf });
  const late = crossFaults(settings, sources.env).map(placed);
  if (late.length > 0) throw new StartFault(inOrder(late));
  return settings;
}

// By source, and by line within a file.
const inOrder = (faults: readonly Fault[]) =>
  [...faults].sort((a, b) => a.source.localeCompare(b.source, 'en', { numeric: true }));

const covers = (outer: string, pointer: string) => pointer === outer || pointer.startsWith(`${outer}/`);

function has(value: unknown, pointer: string): boolean {
  let here = value;
  for (const key of pointer.split('/').slice(1)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return false;
    here = (here as Record<string, unknown>)[key];
  }
  return true;
}
