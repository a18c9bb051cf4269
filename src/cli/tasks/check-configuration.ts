import type { Settings } from '../../engine/config/settings.ts';
import type { AcceptedViolations } from '../../engine/model/acceptance.ts';
import { type Fault, StartFault } from '../../engine/model/fault.ts';
import { isOutage } from '../../engine/model/ledger-entry.ts';
import type { CommandLine } from '../../lib/command.ts';
import type { ProgramIo } from '../program.ts';
import { settingsFrom, withAssembly } from '../flags/config-flags.ts';
import { recordsAt } from '../flags/kept-records.ts';

/** A valid configuration. */
interface CheckedConfiguration {
  readonly settings: Settings;
  readonly warnings: readonly Fault[];
  /** The number of operations in the contract. */
  readonly operations: number;
}

/**
 * Loads the configuration and assembles the gateway, without starting it. Throws a StartFault with all configuration
 * errors.
 */
export async function checkConfiguration(line: CommandLine, io: ProgramIo): Promise<CheckedConfiguration> {
  const settings = await settingsFrom(line, io);
  const found = await withAssembly(settings, ({ warnings, gateway, baseline }) => ({
    warnings,
    operations: gateway.plans.size,
    baseline,
  }));
  const warnings = [...found.warnings, ...(await outageWarnings(settings, found.baseline))];
  return { settings, warnings, operations: found.operations };
}

/**
 * Returns warnings about baseline entries that have no effect because they accept upstream failures. Such entries can
 * be recognized only with the ledger, so there are no warnings if the ledger cannot be read.
 */
async function outageWarnings(
  settings: Settings,
  baseline: Pick<AcceptedViolations, 'file' | 'read'> | undefined,
): Promise<readonly Fault[]> {
  const accepted = baseline?.read().accepted ?? [];
  if (baseline === undefined || accepted.length === 0) return [];
  const snapshot = await recordsAt(settings)
    .read({})
    .catch((error: unknown) => {
      if (error instanceof StartFault) return undefined;
      throw error;
    });
  const outages = new Set(snapshot?.entries.filter(isOutage).map(({ fingerprint }) => fingerprint));
  return accepted.flatMap(({ fingerprint }, index) => {
    const message = `has no effect: ${fingerprint} is a failure of the upstream and cannot be accepted`;
    return outages.has(fingerprint) ? [{ source: baseline.file, pointer: `/accepted/${index}`, message }] : [];
  });
}
