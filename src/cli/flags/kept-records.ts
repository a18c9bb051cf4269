import { optionsOf } from '../../engine/config/configurable.ts';
import type { Settings } from '../../engine/config/settings.ts';
import {
  type AcceptanceReader,
  type Feature,
  featuresOf,
  type RecordKeeping,
  type RecordParts,
} from '../../engine/feature.ts';
import type { Baseline, StoredRecords } from '../../engine/model/ledger-entry.ts';
import { UsageError } from '../../lib/command.ts';

const NOTHING: Baseline = { accepted: [] };

/** Returns where the gateway's records of violations and traffic are, or the records in a file. */
export function recordsAt(settings: Settings, file?: string): StoredRecords {
  const feature = keeperOf(featuresOf(settings));
  return feature.records.at(optionsOf(settings, feature), settings, file);
}

/** Creates records in memory. */
export function recordsInMemory(
  settings: Settings,
  parts: RecordParts,
): ReturnType<RecordKeeping<unknown>['inMemory']> {
  const feature = keeperOf(featuresOf(settings));
  return feature.records.inMemory(optionsOf(settings, feature), parts);
}

/** Creates records in a file. */
export function recordsInFile(
  settings: Settings,
  file: string,
  parts: Parameters<RecordKeeping<unknown>['inFile']>[3],
): ReturnType<RecordKeeping<unknown>['inFile']> {
  const feature = keeperOf(featuresOf(settings));
  return feature.records.inFile(optionsOf(settings, feature), settings, file, parts);
}

/** Returns the feature that keeps records. Throws a UsageError if there is none. */
export function keeperOf(features: readonly Feature[]): Feature & { readonly records: RecordKeeping<unknown> } {
  for (const feature of features) if (feature.records !== undefined) return { ...feature, records: feature.records };
  throw new UsageError('this build of Portico has no feature that keeps records of violations');
}

/** Returns the accepted violations of the configured file, which might not exist yet. */
export function acceptedIn(settings: Settings): Baseline {
  for (const feature of featuresOf(settings)) {
    const options = feature.acceptance && optionsOf(settings, feature);
    if (options !== undefined) return feature.acceptance?.open(options, settings).read() ?? NOTHING;
  }
  return NOTHING;
}

/** Returns the reader of files of accepted violations. Throws a UsageError if no feature reads them. */
export function acceptanceReader(features: readonly Feature[]): AcceptanceReader<unknown> {
  for (const { acceptance } of features) if (acceptance !== undefined) return acceptance;
  throw new UsageError('this build of Portico has no feature that accepts violations');
}
