import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.ts';
import type { Clock } from '../../lib/clock.ts';
import { overrideTarget } from '../../pipeline/stage.ts';
import { createOverrides, type Overrides } from '../../overrides/create-overrides.ts';
import {
  createOverrideFiles,
  type OverrideFiles,
  readOverrideFiles,
  SHOWN_EVENTS,
  type StoredOverrides,
  formatEvent,
  formatOverrides,
  overrideJson,
  type OverrideEvent,
  parseEvent,
  parseOverrides,
} from '../../overrides/override-files.ts';
import { mergeOverrides, type Override } from '../../overrides/override.ts';
import type { OverrideRules } from '../../overrides/read-override.ts';
import type { CompiledGateway } from '../../pipeline/compiled-gateway.ts';
import { openSharedTrail, type SharedDocument } from '../../redis/shared-document.ts';
import type { SharedState } from '../sharing/shared-state.ts';
import { readStateFile, whyNotStored } from './state-files.ts';

/** Reads the stored overrides. Throws a StartFault if the file is invalid. */
export function readStoredOverrides(settings: Settings): StoredOverrides {
  const words = { kind: 'overrides file', start: 'without overrides' };
  return readStateFile(settings, 'overrides', words, readOverrideFiles);
}

/** A gateway's overrides, and the document through which gateways share them. */
interface AssembledOverrides {
  readonly overrides: Overrides;
  /** The document through which gateways share the overrides. Undefined if no state is shared. */
  readonly document: SharedDocument<readonly Override[]> | undefined;
}

/** The name of the document that contains the overrides of all gateways. */
const DOCUMENT = 'overrides';

/** The maximum number of events in the shared audit trail. */
const MAX_SHARED_EVENTS = 1_000;

/** Creates the overrides from their stored state. Nothing is written until an override is added, changed or ended. */
export function assembleOverrides(
  settings: Settings,
  stored: StoredOverrides,
  parts: {
    readonly clock: Clock;
    readonly logger: Logger;
    readonly shared: SharedState | undefined;
  },
): AssembledOverrides {
  const { clock, logger, shared } = parts;
  const files = createOverrideFiles(settings.overrides.file, (error) =>
    logger.error({ err: error }, 'an override cannot be stored: it applies only until the process ends'),
  );
  const create = (used: OverrideFiles) =>
    createOverrides({ stored, files: used, onEvent: (event) => logEvent(logger, event), clock });
  if (shared === undefined) return { overrides: create(files), document: undefined };

  const trail = openSharedTrail(shared.redis, 'overrides-trail', MAX_SHARED_EVENTS, SHOWN_EVENTS);
  const readTrail = async () => {
    const lines = await trail.read();
    if (lines === undefined) return;
    const found = lines.flatMap((line) => parseEvent(line) ?? []);
    // Events that Redis has lost are added again. If the trail contains as many events as can be shown, older events
    // have been dropped from it on purpose and are not added.
    const startsAt = found.length < SHOWN_EVENTS ? 0 : (found[0]?.at ?? 0);
    const missing = overrides
      .events()
      .map(sharedEvent)
      .filter((event) => event.at > startsAt && !lines.includes(formatEvent(event).trim()));
    for (const event of missing) trail.add(formatEvent(event).trim(), event.at);
    overrides.adoptEvents([...found, ...missing].toSorted((a, b) => a.at - b.at));
    if (missing.length === 0 || (await trail.read()) === undefined) return;
    await shared.changes.append({ kind: 'reread', document: DOCUMENT });
  };
  const overrides = create({
    ...files,
    record(event, active) {
      files.record(event, active);
      const shown = sharedEvent(event);
      trail.add(formatEvent(shown).trim(), shown.at);
      void readTrail();
      void document.sync();
    },
    written: async () => {
      const [isInFile, isShared] = await Promise.all([files.written(), document.sync()]);
      return isInFile || isShared;
    },
  });
  const document = shared.openDocument<readonly Override[]>(DOCUMENT, {
    current: overrides.stored,
    adopt(next) {
      logger.warn({ overrides: next.map(overrideJson) }, 'another gateway has changed the overrides');
      overrides.adopt(next);
    },
    merge: mergeOverrides,
    empty: () => [],
    format: formatOverrides,
    parse: parseOverrides,
    onMerged: () => void readTrail(),
  });
  return { overrides, document };
}

/**
 * Returns an event in the form stored in the shared trail. When an override expires, every gateway adds a line to the
 * trail. The line's time is the override's end time, so all of these lines are identical and only one is stored.
 */
function sharedEvent(event: OverrideEvent): OverrideEvent {
  return event.event === 'expired' ? { ...event, at: event.override.until } : event;
}

/** Returns the rules that a compiled gateway's overrides must follow. */
export function overrideRules({ overrides }: Settings, { plans }: Pick<CompiledGateway, 'plans'>): OverrideRules {
  const targets = [...plans].map(([id, plan]) => [id, overrideTarget(plan)] as const);
  return { operations: new Map(targets), maxHours: overrides.maxHours };
}

const WORDS: Readonly<Record<OverrideEvent['event'], string>> = {
  set: 'an operator set an override',
  changed: 'an operator changed an override',
  ended: 'an operator ended an override',
  expired: 'an override expired',
};

function logEvent(logger: Logger, { event, override, endedBy }: OverrideEvent): void {
  logger.warn({ override: { ...overrideJson(override), ...(endedBy && { endedBy }) } }, WORDS[event]);
}

interface OpeningOverrides {
  readonly overrides: Overrides;
  readonly overridesDocument: AssembledOverrides['document'];
  readonly logger: Logger;
}

/**
 * Checks that overrides can be stored, logs the active overrides, and starts the timer that ends overrides as they
 * expire. Returns a function that stops the timer. A configured file that cannot be written is a configuration error;
 * for the default file, only a warning is logged.
 */
export async function openOverrides(
  settings: Settings,
  { overrides, overridesDocument, logger }: OpeningOverrides,
): Promise<() => void> {
  const reason = await whyNotStored(settings, 'overrides');
  if (reason !== undefined)
    logger.warn({ overrides: { file: settings.overrides.file, reason } }, 'overrides are stored in memory only');
  await overridesDocument?.start();
  for (const override of overrides.active())
    logger.warn({ override: overrideJson(override) }, 'an override is in effect');
  return overrides.watch();
}
