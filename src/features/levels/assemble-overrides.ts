import type { Logger } from 'pino';
import type { Settings } from '../../engine/config/settings.ts';
import type { Clock } from '../../lib/clock.ts';
import { overrideTarget } from '../../engine/pipeline/stage.ts';
import { createOverrides, type Overrides } from './overrides/create-overrides.ts';
import { EXPIRY, type OverrideEvent, actionOf } from './overrides/override-event.ts';
import {
  createOverrideFiles,
  formatOverrides,
  overrideJson,
  parseOverrides,
  readOverrideFile,
} from './overrides/override-files.ts';
import { mergeOverrides, type Override } from './overrides/override.ts';
import type { OverrideRules } from './overrides/read-override.ts';
import type { CompiledGateway } from '../../engine/pipeline/compiled-gateway.ts';
import type { SharedDocument, Sharing } from '../../engine/sharing/sharing.ts';
import type { OperatorAction } from '../../engine/model/operator-action.ts';
import { readStateFile, whyNotStored } from '../../engine/config/state-files.ts';

/** Reads the stored overrides. Throws a StartFault if the file is invalid. */
export function readStoredOverrides(settings: Settings): readonly Override[] {
  const words = { kind: 'overrides file', start: 'without overrides' };
  return readStateFile(
    settings,
    { file: settings.overrides.file, pointer: '/overrides/file' },
    words,
    readOverrideFile,
  );
}

/** A gateway's overrides, and the document through which gateways share them. */
interface AssembledOverrides {
  readonly overrides: Overrides;
  /** The document through which gateways share the overrides. Undefined if no state is shared. */
  readonly document: SharedDocument<readonly Override[]> | undefined;
}

/** The name of the document that contains the overrides of all gateways. */
const DOCUMENT = 'overrides';

/** Creates the overrides from their stored state. Nothing is written until an override is added, changed or ended. */
export function assembleOverrides(
  settings: Settings,
  stored: readonly Override[],
  parts: {
    readonly clock: Clock;
    readonly logger: Logger;
    readonly shared: Sharing | undefined;
    /** Reports an operator's action. Resolves to false if it could not be stored. */
    readonly acted: (action: OperatorAction) => Promise<boolean>;
  },
): AssembledOverrides {
  const { clock, logger, shared, acted } = parts;
  const files = createOverrideFiles(settings.overrides.file, (error) =>
    logger.error({ err: error }, 'an override cannot be stored: it applies only until the process ends'),
  );
  const record = (event: OverrideEvent) => {
    logEvent(logger, event);
    return acted(actionOf(event));
  };
  if (shared === undefined)
    return { overrides: createOverrides({ stored, files, record, clock }), document: undefined };

  const overrides = createOverrides({
    stored,
    files: {
      replace(active, recorded) {
        files.replace(active, recorded);
        // A change that another gateway made has no entry here, and is already in the document.
        if (recorded !== undefined) void document.sync();
      },
      written: async () => {
        const [isInFile, isShared] = await Promise.all([files.written(), document.sync()]);
        return isInFile || isShared;
      },
    },
    // When an override expires, every gateway adds an entry to the trail. The entry's time is the override's end time,
    // so all of these entries are identical and only one is stored.
    record: (event) => record(event.origin === EXPIRY ? { ...event, at: event.override.until } : event),
    clock,
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
  });
  return { overrides, document };
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

function logEvent(logger: Logger, { event, override, origin }: OverrideEvent): void {
  const { by, from } = origin;
  logger.warn(
    { override: { ...overrideJson(override), ...(event === 'ended' && { endedBy: { by, from } }) } },
    WORDS[event],
  );
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
  const reason = await whyNotStored(settings, { file: settings.overrides.file, pointer: '/overrides/file' });
  if (reason !== undefined)
    logger.warn({ overrides: { file: settings.overrides.file, reason } }, 'overrides are stored in memory only');
  await overridesDocument?.start();
  for (const override of overrides.active())
    logger.warn({ override: overrideJson(override) }, 'an override is in effect');
  return overrides.watch();
}
