import type { Override } from '../config/environment.ts';
import { readSettings } from '../config/load-settings.ts';
import { type Place, type Settings, withUpstreamUrl } from '../config/settings.ts';
import type { Assembly } from '../gateway.ts';
import { type Fault, StartFault } from '../model/fault.ts';
import { CHAOS_GRAMMAR, CHAOS_EFFECTS } from '../reference/chaos/chaos-names.ts';
import { ChaosSyntaxError, parseChaos } from '../reference/chaos/parse-chaos.ts';
import type { CommandIo, CommandLine, Flag } from './command.ts';

/** Flags of every command that loads the configuration. */
export const CONFIG_FLAGS: readonly Flag[] = [
  { name: 'config', value: 'FILE', help: 'Configuration file; PORTICO_CONFIG.' },
  { name: 'mode', value: 'MODE', help: 'observe, staging or strict; PORTICO_MODE.' },
  { name: 'upstream', value: 'URL', help: 'Base address of the legacy server; UPSTREAM_URL.' },
];

/** Flags of the two listeners. */
export const LISTEN_FLAGS: readonly Flag[] = [
  { name: 'port', value: 'PORT', help: 'Public port; PORT.' },
  { name: 'host', value: 'HOST', help: 'Public address; HOST.' },
  { name: 'admin-port', value: 'PORT', help: 'Admin port; ADMIN_PORT.' },
  { name: 'admin-host', value: 'HOST', help: 'Admin address; ADMIN_HOST.' },
];

/** Flags of the embedded upstream. */
export const REFERENCE_FLAGS: readonly Flag[] = [
  { name: 'db', value: 'PATH', help: 'Database of the reference server, or :memory:.' },
  { name: 'seed', value: 'NUMBER', help: 'Seed of its data and faults.' },
  { name: 'tracker', value: 'URL', help: 'Base address of an issue tracker instead of the embedded one.' },
  { name: 'fault', value: 'NAME', multiple: true, help: 'Misbehaviour to switch on.' },
];

/** The note of every command that takes `--fault`: how a fault is written, and each name with what it does. */
export const FAULT_NOTES: readonly string[] = faultNotes();

const POINTERS: Readonly<Record<string, string>> = {
  mode: '/mode',
  upstream: '/upstream/url',
  port: '/listen/port',
  host: '/listen/host',
  'admin-port': '/listen/adminPort',
  'admin-host': '/listen/adminHost',
  db: '/reference/db',
  seed: '/reference/seed',
  tracker: '/reference/issueTrackerUrl',
  fault: '/reference/faults',
  against: '/upstream/url',
};
const NUMBERS = new Set(['port', 'admin-port', 'seed']);

/** Loads the configuration with the flags of a command line over it; throws StartFault with all faults, the contract's and the roles' too. `more` are flags of that command alone, with the keys that they set. */
export async function settingsFrom(
  line: CommandLine,
  io: CommandIo,
  more: Readonly<Record<string, string>> = {},
): Promise<Settings> {
  const config = line.last('config');
  const env = config === undefined ? io.env : { ...io.env, PORTICO_CONFIG: config };
  const read = readSettings({ env, cwd: io.cwd, flags: overridesOf(line, { ...POINTERS, ...more }) });
  const { settings } = read;
  const { faults: misbehaviours } = settings.reference;
  const faults = [...read.faults, ...misbehaviourFaults(misbehaviours, settings.placeOf('/reference/faults'))];
  if (faults.length === 0) return settings;
  throw new StartFault([...faults, ...(await faultsOfTheRest(settings))]);
}

function faultNotes(): string[] {
  const names = Object.entries(CHAOS_EFFECTS);
  const width = Math.max(...names.map(([name]) => name.length));
  return [
    `A fault is written ${CHAOS_GRAMMAR}; SHARE is a percentage of the requests. The names:`,
    ...names.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`),
  ];
}

function overridesOf(line: CommandLine, pointers: Readonly<Record<string, string>>): Override[] {
  return Object.entries(pointers).flatMap(([name, pointer]) => {
    const values = line.all(name);
    const value = values.at(-1);
    if (value === undefined) return [];
    const number = NUMBERS.has(name) && /^\d{1,10}$/.test(value) ? Number(value) : value;
    return [{ source: `--${name}`, kind: 'flag', pointer, value: name === 'fault' ? values : number }];
  });
}

async function faultsOfTheRest(settings: Settings): Promise<readonly Fault[]> {
  try {
    await withAssembly(settings, () => undefined);
    return [];
  } catch (error) {
    if (error instanceof StartFault) return error.faults;
    throw error;
  }
}

// Nothing listens there; what is only printed never calls it.
const NOWHERE = 'http://127.0.0.1:9';

/** Assembles the gateway without sockets, does something with it, and closes it. */
export async function withAssembly<T>(settings: Settings, use: (assembly: Assembly) => T | Promise<T>): Promise<T> {
  const { assembleGateway } = await import('../gateway.ts');
  const assembly = assembleGateway(settings.embedded ? withUpstreamUrl(settings, NOWHERE) : settings);
  try {
    return await use(assembly);
  } finally {
    await assembly.close();
  }
}

/** What is wrong with the misbehaviours that the embedded upstream is asked for: nothing, or one fault at their place. */
export function misbehaviourFaults(texts: readonly string[], place: Place): readonly Fault[] {
  try {
    parseChaos(texts);
    return [];
  } catch (error) {
    if (!(error instanceof ChaosSyntaxError)) throw error;
    const suggestion = `a fault is written ${CHAOS_GRAMMAR}`;
    return [{ ...place, message: error.problems.join('; '), suggestion }];
  }
}
