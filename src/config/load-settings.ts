import { StartFault, type Fault } from '../model/fault.ts';
import { checkConfig, type ConfigProblem } from './check-config.ts';
import { configPath, givenConfig, readConfigFile } from './config-file.ts';
import { crossFaults } from './cross-faults.ts';
import { readEnvironment, type Environment, type Override } from './environment.ts';
import { type PlainObject, withoutValueAt, withValueAt } from './plain-object.ts';
import type { Origin, Place, Settings } from './settings.ts';
import { toSettings } from './to-settings.ts';

/** The sources of the configuration. */
export interface SettingsSources {
  readonly env: Environment;
  readonly cwd: string;
  /** The values of command-line flags, which take precedence over all other sources. */
  readonly flags?: readonly Override[];
  /** A configuration given by a program, in place of the file. */
  readonly given?: PlainObject;
}

/** The settings together with all configuration errors. */
interface SettingsReading {
  /** The settings without invalid values. If there are errors, use them only to find further errors. */
  readonly settings: Settings;
  readonly faults: readonly Fault[];
}

/**
 * Loads the configuration. Flags take precedence over the environment, the environment over the file, and the file over
 * defaults. Throws StartFault with all configuration errors.
 */
export function loadSettings(sources: SettingsSources): Settings {
  const { settings, faults } = readSettings(sources);
  if (faults.length > 0) throw new StartFault(faults);
  return settings;
}

/** Reads the configuration and continues after errors, so that all of them can be reported in one run. */
export function readSettings(sources: SettingsSources): SettingsReading {
  const file =
    sources.given === undefined
      ? readConfigFile(configPath(sources.env, sources.cwd), sources.cwd)
      : givenConfig(sources.given, sources.cwd);
  const environment = readEnvironment(sources.env);
  const overrides = [...environment.overrides, ...(sources.flags ?? [])];
  const raw = overrides.reduce((value, { pointer, value: set }) => withValueAt(value, pointer, set), file.value);

  const overrideAt = (pointer: string) => overrides.findLast((override) => covers(override.pointer, pointer));
  const originOf = (pointer: string): Origin =>
    overrideAt(pointer)?.kind ?? (has(file.value, pointer) ? 'file' : 'default');
  const placeOf = (pointer: string): Place => {
    const below = overrides.findLast((override) => covers(pointer, override.pointer));
    const override = overrideAt(pointer) ?? (has(file.value, pointer) ? undefined : below);
    return override === undefined
      ? { source: file.locate(pointer), pointer }
      : { source: override.source, pointer: '' };
  };
  const problems = checkConfig(raw);
  const valid = validPart(raw, problems);
  const settings = toSettings(valid, { file: file.name, folder: file.folder, cwd: sources.cwd, originOf, placeOf });
  const faults: Fault[] = [...file.faults, ...environment.faults];
  for (const problem of [...problems, ...crossFaults(settings, sources.env)])
    faults.push({ ...problem, ...placeOf(problem.pointer) });
  return { settings, faults: inOrder(faults) };
}

// Removing an invalid value can make another one invalid. In that case, the whole file is ignored.
function validPart(raw: PlainObject, problems: readonly ConfigProblem[]): PlainObject {
  if (problems.length === 0) return raw;
  const rest = problems.reduce((value, { pointer }) => withoutValueAt(value, pointer), raw);
  return checkConfig(rest).length === 0 ? rest : {};
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
