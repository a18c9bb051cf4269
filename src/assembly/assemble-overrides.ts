import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import type { Clock } from '../lib/clock.ts';
import { overrideTarget } from '../pipeline/planned-operation.ts';
import { createOverrides, type Overrides } from '../overrides/create-overrides.ts';
import { createOverrideFiles, readOverrideFiles, type StoredOverrides } from '../overrides/override-files.ts';
import { overrideJson, type OverrideEvent } from '../overrides/overrides-text.ts';
import type { OverrideRules } from '../overrides/read-override.ts';
import type { CompiledGateway } from '../pipeline/compiled-gateway.ts';
import { readStateFile, whyNotStored } from './state-files.ts';

/** Reads the stored overrides. Throws a StartFault if the file is invalid. */
export function readStoredOverrides(settings: Settings): StoredOverrides {
  const words = { kind: 'file of overrides', start: 'without overrides' };
  return readStateFile(settings, 'overrides', words, readOverrideFiles);
}

/** Creates the overrides from what is stored. Nothing is written until one changes. */
export function assembleOverrides(
  settings: Settings,
  stored: StoredOverrides,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Overrides {
  return createOverrides({
    stored,
    files: createOverrideFiles(settings.overrides.file, (error) =>
      logger.error({ err: error }, 'an override cannot be stored: it applies only until the process ends'),
    ),
    onEvent: (event) => logEvent(logger, event),
    clock,
  });
}

/** Returns what overrides may change in a compiled gateway. */
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

/**
 * Checks that overrides can be stored, logs the active ones and lets them expire. Returns a function that stops this.
 * If a configured file cannot be written, that is a configuration error; for the default file, only a warning is
 * logged.
 */
export async function openOverrides(
  settings: Settings,
  { overrides, logger }: { readonly overrides: Overrides; readonly logger: Logger },
): Promise<() => void> {
  const reason = await whyNotStored(settings, 'overrides');
  if (reason !== undefined)
    logger.warn({ overrides: { file: settings.overrides.file, reason } }, 'overrides are stored in memory only');
  for (const override of overrides.active())
    logger.warn({ override: overrideJson(override) }, 'an override is in effect');
  return overrides.watch();
}
