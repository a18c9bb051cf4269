import type { Override } from '../../engine/config/settings.ts';
import { readSettings, type SettingsReading } from '../../engine/config/load-settings.ts';
import { type Settings, withDemoState, withUpstreamUrl } from '../../engine/config/settings.ts';
import type { Assembly } from '../../engine/gateway.ts';
import { MODE_NAMES } from '../../engine/model/modes.ts';
import { type Fault, StartFault } from '../../engine/model/fault.ts';
import type { CommandLine, Flag } from '../../lib/command.ts';
import type { ConfigFlag, ProgramIo } from '../program.ts';

const BASIC_FLAGS: readonly ConfigFlag[] = [
  {
    name: 'mode',
    pointer: '/mode',
    value: 'MODE',
    choices: MODE_NAMES,
    help: 'observe, staging or strict; PORTICO_MODE.',
  },
  { name: 'upstream', pointer: '/upstream/url', value: 'URL', help: 'Base URL of the legacy server; UPSTREAM_URL.' },
];

/** The flags for all commands that load the configuration. */
export const CONFIG_FLAGS: readonly Flag[] = [
  { name: 'config', value: 'FILE', help: 'Configuration file; PORTICO_CONFIG.' },
  ...BASIC_FLAGS,
];

/** The flags for the two listeners. */
export const LISTEN_FLAGS: readonly ConfigFlag[] = [
  { name: 'port', pointer: '/listen/port', isNumber: true, value: 'PORT', help: 'Public port; PORT.' },
  { name: 'host', pointer: '/listen/host', value: 'HOST', help: 'Public address; HOST.' },
  { name: 'admin-port', pointer: '/listen/adminPort', isNumber: true, value: 'PORT', help: 'Admin port; ADMIN_PORT.' },
  { name: 'admin-host', pointer: '/listen/adminHost', value: 'HOST', help: 'Admin address; ADMIN_HOST.' },
];

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
  const { standIn } = io.product;
  const others = Object.entries({ against: '/upstream/url', ...more });
  const flags = overridesOf(line, [
    ...BASIC_FLAGS,
    ...LISTEN_FLAGS,
    ...(standIn?.flags ?? []),
    ...others.map(([name, pointer]) => ({ name, pointer, value: 'VALUE' })),
  ]);
  if (line.last('against') !== undefined)
    for (const { name, namesSecondServer } of io.product.features)
      if (namesSecondServer === true)
        flags.push({ source: '--against', kind: 'flag', pointer: `/${name}`, value: undefined });
  const { settings, faults, ...rest } = readSettings({ env, cwd: io.cwd, flags }, io.product);
  return { ...rest, settings, faults: [...faults, ...(standIn?.faults(settings) ?? [])] };
}

function overridesOf(line: CommandLine, flags: readonly Omit<ConfigFlag, 'help'>[]): Override[] {
  return flags.flatMap((flag) => {
    const values = line.all(flag.name);
    const value = values.at(-1);
    if (value === undefined) return [];
    const { pointer, multiple = false } = flag;
    return [{ source: `--${flag.name}`, kind: 'flag', pointer, value: multiple ? values : typed(flag, value) }];
  });
}

function typed({ value: placeholder, isNumber }: Omit<ConfigFlag, 'help'>, value: string) {
  if (placeholder === undefined) return value === 'true';
  return isNumber === true && /^\d{1,10}$/.test(value) ? Number(value) : value;
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
