import { setImmediate as turn } from 'node:timers/promises';
import { changedKeys } from './config/changed-keys.ts';
import type { ReloadResult, SettingsReading } from './config/load-settings.ts';
import { reloadNote } from './config/reload-note.ts';
import type { Settings } from './config/settings.ts';
import { pointerTo } from '../lib/json-pointer.ts';
import { distinctFaults, type Fault, StartFault } from './model/fault.ts';
import type { Engine } from './create-engine.ts';
import { loadStart, type Start, type StartSources } from './load-start.ts';
import type { InUse } from './services.ts';

/** What triggered a reload, as shown in the log. */
type ReloadTrigger = 'signal' | 'admin' | 'console' | 'program';

/**
 * Rereads the configuration and uses it for new requests. Never rejects. Only one reload runs at a time; all calls made
 * while it runs share the next one.
 */
export type Reload = (trigger: ReloadTrigger) => Promise<ReloadResult>;

interface ReloadParts {
  /** Reads the settings from the sources given at startup. Undefined if the sources are not known. */
  readonly read: (() => SettingsReading | Promise<SettingsReading>) | undefined;
  readonly sources: StartSources;
  readonly engine: Engine;
  readonly isClosing: () => boolean;
  /** Makes the listeners use a new configuration. If it throws, they still use the earlier one. */
  readonly follow: (next: InUse) => void;
}

/** Creates the function that reloads the configuration. */
export function createReload(given: ReloadParts): Reload {
  let running: Promise<ReloadResult> | undefined;
  let waiting: Promise<ReloadResult> | undefined;
  const run = async (trigger: ReloadTrigger): Promise<ReloadResult> => {
    const { logger, metrics } = given.engine.current();
    const result = await attempt(given).catch((error: unknown): ReloadResult => {
      if (!(error instanceof StartFault)) logger.error({ err: error }, 'the reload failed');
      return { outcome: 'refused', faults: error instanceof StartFault ? distinctFaults(error.faults) : [INTERNAL] };
    });
    metrics.reloaded(result.outcome);
    if (result.outcome === 'applied') {
      logger.info({ reload: { trigger, changed: result.changed } }, 'the configuration was reloaded');
      for (const { source, pointer, message } of result.warnings) logger.warn({ source, pointer }, message);
    } else {
      const faults = result.faults.map(({ source, pointer, message }) => ({ source, pointer, message }));
      logger.error({ reload: { trigger }, faults }, 'the reload was refused: the previous configuration stays in use');
    }
    return result;
  };
  const start = (trigger: ReloadTrigger) => {
    running = run(trigger).finally(() => {
      running = undefined;
    });
    return running;
  };
  const request = (trigger: ReloadTrigger) => {
    if (running === undefined) return start(trigger);
    // The reload in progress may have read a file before its latest change, so another reload is needed.
    waiting ??= running.then(() => {
      waiting = undefined;
      return start(trigger);
    });
    return waiting;
  };
  const record = (way: 'signal' | 'program', result: ReloadResult) => {
    const { clock, features } = given.engine.current();
    const origin = { at: clock(), actor: 'process', way } as const;
    void features.acted({ ...origin, action: 'reload', ...reloadNote(result) });
  };
  return (trigger) => {
    const reloaded = request(trigger);
    // The admin side records its own reloads, because it knows the operator.
    if (trigger === 'signal' || trigger === 'program') void reloaded.then((result) => record(trigger, result));
    return reloaded;
  };
}

const INTERNAL: Fault = { source: 'portico', pointer: '', message: 'the reload failed; the log contains the reason' };

/** Reads, checks and applies the configuration. Throws a StartFault that lists all errors, if there are any. */
async function attempt(given: ReloadParts): Promise<ReloadResult> {
  const { read, sources, engine, isClosing, follow } = given;
  if (read === undefined) throw refuse('the program that started the gateway does not support reloads');
  const before = engine.current();
  const { settings, faults } = await read();
  // The steps run in separate turns of the event loop so that requests can be handled between them.
  await turn();
  const found = [...faults];
  const start = attemptStart(settings, { ...sources, running: before }, found);
  if (faults.length === 0) found.push(...restartFaults(before.settings, settings));
  if (found.length > 0 || start === undefined) throw new StartFault(found);
  await turn();
  const next = engine.prepare(settings, start);
  try {
    await next.open();
    // Unwritten records belong to the previous release label, so they must be written before the label changes.
    await before.records.flush();
    if (isClosing()) throw refuse('the process is shutting down');
    const changed = changes(before, { settings, start });
    next.use(follow);
    return { outcome: 'applied', changed, warnings: start.warnings };
  } catch (error) {
    await next.discard();
    throw error;
  }
}

/** What a configuration consists of. */
interface Loaded {
  readonly settings: Settings;
  readonly start: Start;
}

const refuse = (message: string) => new StartFault([{ source: 'portico', pointer: '', message }]);

function attemptStart(settings: Settings, sources: StartSources, faults: Fault[]) {
  try {
    return loadStart(settings, sources);
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    faults.push(...error.faults);
    return undefined;
  }
}

/**
 * The keys that take effect only at startup. They configure resources that are opened only once: listeners, files that
 * the process writes, connections to Redis, and the embedded upstream.
 */
export const RESTART_KEYS: readonly string[] = [
  'adminToken',
  'instance',
  'listen.adminHost',
  'listen.adminPort',
  'listen.headersTimeoutSeconds',
  'listen.host',
  'listen.keepAliveSeconds',
  'listen.maxHeaderBytes',
  'listen.port',
  'listen.reusePort',
  'listen.requestTimeoutSeconds',
  'listen.tls',
  'operators',
  'redis',
];

/** Returns whether a key takes effect only at startup. */
function needsRestart(key: string, { features }: Settings): boolean {
  const ofFeatures = features.flatMap(({ configurable: { name, needsRestart: which = false } }) => {
    if (typeof which === 'boolean') return which ? [name] : [];
    return which.map((option) => `${name}.${option}`);
  });
  return [...RESTART_KEYS, ...ofFeatures].some((prefix) => key === prefix || key.startsWith(`${prefix}.`));
}

/** Returns one error for each changed key that requires a restart. */
export function restartFaults(before: Settings, after: Settings): readonly Fault[] {
  const faultAt = (pointer: string, what: string): Fault => ({
    ...after.placeOf(pointer),
    message: `${what} takes effect only when the process starts`,
    suggestion: 'restore the previous value, or restart the process',
  });
  const keys = changedKeys(before, after).filter((key) => needsRestart(key, after));
  const faults = keys.map((key) => faultAt(pointerTo(key.split('.')), `a change of ${key}`));
  if (before.embedded === after.embedded) return faults;
  // The embedded upstream, which is used when no upstream URL is set, starts with the process and cannot be started or
  // stopped later.
  return [...faults, faultAt('/upstream/url', 'a switch between a real upstream and the reference server')];
}

/** Returns the names of the keys and files that have changed, without their values. */
function changes(before: Loaded, after: Loaded): readonly string[] {
  const files: Readonly<Record<string, (from: Loaded) => unknown>> = {
    'the contract': ({ start }) => start.contract.version,
    'the roles file': ({ start: { roles } }) => [[...roles.roles], roles.accounts, roles.unmapped],
    'the baseline': ({ start }) => start.baseline?.read(),
    'the password of the service account': ({ start }) => start.serviceAuthorization,
  };
  const differs = (of: (from: Loaded) => unknown) => JSON.stringify(of(before)) !== JSON.stringify(of(after));
  const changed = Object.entries(files).flatMap(([name, of]) => (differs(of) ? [name] : []));
  const read = new Map([...before.start.prepared, ...after.start.prepared]);
  const changedFiles = [...read].flatMap(([name, { subject }]) =>
    subject !== undefined && differs(({ start }) => start.prepared.get(name)?.version) ? [subject] : [],
  );
  return [...changedKeys(before.settings, after.settings), ...changed, ...changedFiles];
}
