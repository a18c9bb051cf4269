import { referenceOf } from '../../profile/reference-options.ts';
import type { Override } from '../../engine/config/settings.ts';
import { readSettings, type SettingsReading } from '../../engine/config/load-settings.ts';
import { type Place, type Settings, withDemoState, withUpstreamUrl } from '../../engine/config/settings.ts';
import type { Assembly } from '../../engine/gateway.ts';
import { MODE_NAMES } from '../../engine/model/modes.ts';
import { type Fault, StartFault } from '../../engine/model/fault.ts';
import { CHAOS_GRAMMAR, CHAOS_EFFECTS } from '../../reference/chaos/chaos-kinds.ts';
import { ChaosSyntaxError, parseChaos } from '../../reference/chaos/parse-chaos.ts';
import type { CommandLine, Flag } from '../../lib/command.ts';
import type { ProgramIo } from '../program.ts';

/** The flags for all commands that load the configuration. */
export const CONFIG_FLAGS: readonly Flag[] = [
  { name: 'config', value: 'FILE', help: 'Configuration file; PORTICO_CONFIG.' },
  { name: 'mode', value: 'MODE', choices: MODE_NAMES, help: 'observe, staging or strict; PORTICO_MODE.' },
  { name: 'upstream', value: 'URL', help: 'Base URL of the legacy server; UPSTREAM_URL.' },
];

/** The flags for the two listeners. */
export const LISTEN_FLAGS: readonly Flag[] = [
  { name: 'port', value: 'PORT', help: 'Public port; PORT.' },
  { name: 'host', value: 'HOST', help: 'Public address; HOST.' },
  { name: 'admin-port', value: 'PORT', help: 'Admin port; ADMIN_PORT.' },
  { name: 'admin-host', value: 'HOST', help: 'Admin address; ADMIN_HOST.' },
];

/** The flags for the embedded upstream. */
export const REFERENCE_FLAGS: readonly Flag[] = [
  { name: 'db', value: 'PATH', help: 'Database of the reference server, or :memory:.' },
  { name: 'seed', value: 'NUMBER', help: 'Seed for the reference server’s data and chaos.' },
  { name: 'complete', help: 'Include every field that the contract expects; by default, a few list items lack one.' },
  { name: 'tracker', value: 'URL', help: 'Base URL of an issue tracker that replaces the embedded one.' },
  { name: 'fault', value: 'NAME', multiple: true, help: 'Chaos to turn on; see below.' },
];

/**
 * The help text for the `--fault` flag, shared by several commands. It describes the syntax and the effect of each
 * name.
 */
export const CHAOS_NOTES: readonly string[] = chaosNotes();

const POINTERS: Readonly<Record<string, string>> = {
  mode: '/mode',
  upstream: '/upstream/url',
  port: '/listen/port',
  host: '/listen/host',
  'admin-port': '/listen/adminPort',
  'admin-host': '/listen/adminHost',
  db: '/reference/db',
  seed: '/reference/seed',
  complete: '/reference/complete',
  tracker: '/reference/issueTrackerUrl',
  fault: '/reference/faults',
  against: '/upstream/url',
};
const NUMBERS = new Set(['port', 'admin-port', 'seed']);

/**
 * Loads the configuration. Command-line flags take precedence over other sources. `more` maps the command's additional
 * flags to configuration keys. If there are errors, throws a StartFault that also contains the errors in the contract
 * and the roles file.
 */
export async function settingsFrom(
  line: CommandLine,
  io: ProgramIo,
  more: Readonly<Record<string, string>> = {},
): Promise<Settings> {
  const { settings, faults, isPartial } = readSettingsFrom(line, io, more);
  if (faults.length === 0) return settings;
  throw new StartFault(isPartial ? faults : [...faults, ...(await assemblyFaults(settings))]);
}

/**
 * Reads the configuration like {@link settingsFrom}, but returns errors instead of throwing them and does not check the
 * contract or the roles file.
 */
export function readSettingsFrom(
  line: CommandLine,
  io: Pick<ProgramIo, 'env' | 'cwd' | 'product'>,
  more: Readonly<Record<string, string>> = {},
): SettingsReading {
  const config = line.last('config');
  const env = config === undefined ? io.env : { ...io.env, PORTICO_CONFIG: config };
  const { settings, faults, ...rest } = readSettings(
    { env, cwd: io.cwd, flags: overridesOf(line, { ...POINTERS, ...more }) },
    io.product,
  );
  return {
    ...rest,
    settings,
    faults: [...faults, ...chaosErrors(referenceOf(settings)?.faults ?? [], settings.placeOf('/reference/faults'))],
  };
}

function chaosNotes(): string[] {
  const names = Object.entries(CHAOS_EFFECTS);
  const width = Math.max(...names.map(([name]) => name.length));
  return [
    `--fault ${CHAOS_GRAMMAR}; SHARE is the percentage of requests affected. Available names:`,
    ...names.map(([name, effect]) => `  ${name.padEnd(width)}  ${effect}`),
  ];
}

function overridesOf(line: CommandLine, pointers: Readonly<Record<string, string>>): Override[] {
  return Object.entries(pointers).flatMap(([name, pointer]) => {
    const values = line.all(name);
    const value = values.at(-1);
    if (value === undefined) return [];
    return [{ source: `--${name}`, kind: 'flag', pointer, value: name === 'fault' ? values : typed(name, value) }];
  });
}

function typed(name: string, value: string): string | number | boolean {
  if (name === 'complete') return value === 'true';
  return NUMBERS.has(name) && /^\d{1,10}$/.test(value) ? Number(value) : value;
}

async function assemblyFaults(settings: Settings): Promise<readonly Fault[]> {
  try {
    await withAssembly(settings, () => undefined);
    return [];
  } catch (error) {
    if (error instanceof StartFault) return error.faults;
    throw error;
  }
}

// The upstream address for commands that only inspect the gateway and never send requests. No server listens at this
// address.
const UNUSED_URL = 'http://127.0.0.1:9';

/** Assembles the gateway without connections or listeners, passes it to `use`, and then closes it. */
export async function withAssembly<T>(settings: Settings, use: (assembly: Assembly) => T | Promise<T>): Promise<T> {
  const { assembleGateway } = await import('../../engine/gateway.ts');
  const inspected = settings.embedded ? withUpstreamUrl(withDemoState(settings), UNUSED_URL) : settings;
  const assembly = assembleGateway(inspected, { isInspected: true });
  try {
    return await use(assembly);
  } finally {
    await assembly.close();
  }
}

/** Returns one configuration error that describes all invalid chaos rules, or an empty list if all rules are valid. */
export function chaosErrors(texts: readonly string[], place: Place): readonly Fault[] {
  try {
    parseChaos(texts);
    return [];
  } catch (error) {
    if (!(error instanceof ChaosSyntaxError)) throw error;
    const suggestion = `the format is ${CHAOS_GRAMMAR}`;
    return [{ ...place, message: error.problems.join('; '), suggestion }];
  }
}
