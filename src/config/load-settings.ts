import { StartFault, type Fault } from '../model/fault.ts';
import { checkConfig } from './check-config.ts';
import { configPath, readConfigFile } from './config-file.ts';
import { crossFaults } from './cross-faults.ts';
import { readEnvironment, type Environment, type Override } from './environment.ts';
import { withValueAt } from './plain-object.ts';
import type { Origin, Settings } from './settings.ts';
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
  const placed = (pointer: string, message: string, suggestion?: string): Fault => {
    const override = overrideAt(pointer);
    return {
      source: override?.source ?? file.locate(pointer),
      pointer: override === undefined ? pointer : '',
      message,
      ...(suggestion !== undefined && { suggestion }),
    };
  };
  const problems = checkConfig(raw).map((problem) => placed(problem.pointer, problem.message, problem.suggestion));
  const early = [...file.faults, ...environment.faults, ...problems];
  if (early.length > 0) throw new StartFault(early);

  const originOf = (pointer: string): Origin =>
    overrideAt(pointer)?.kind ?? (has(file.value, pointer) ? 'file' : 'default');
  const settings = toSettings(raw, { file: file.name, folder: file.folder, cwd: sources.cwd, originOf });
  const late = crossFaults(settings, sources.env).map((problem) =>
    placed(problem.pointer, problem.message, problem.suggestion),
  );
  if (late.length > 0) throw new StartFault(late);
  return settings;
}

const covers = (outer: string, pointer: string) => pointer === outer || pointer.startsWith(`${outer}/`);

function has(value: unknown, pointer: string): boolean {
  let here = value;
  for (const key of pointer.split('/').slice(1)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return false;
    here = (here as Record<string, unknown>)[key];
  }
  return true;
}
