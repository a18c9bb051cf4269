import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from '../config/settings.ts';
import { readBaselineFile } from '../ledger/baseline-file.ts';
import type { Baseline } from '../model/baseline.ts';
import type { LedgerQuery, LedgerSnapshot } from '../model/ledger-snapshot.ts';
import type { Operation } from '../model/operation.ts';
import type { Report, ReportScope } from '../report/report.ts';
import { toReport } from '../report/to-report.ts';
import { IN_MEMORY } from '../files/in-memory.ts';
import type { CommandIo } from './command-io.ts';
import { type CommandLine, UsageError } from './command.ts';
import { createContractPlaces } from './contract-places.ts';
import { readReportSource } from './read-report-source.ts';

/** Makes reports from the ledger that the command line or the configuration names, or from another file. */
export interface Reports {
  /** The file that reports come from, as people named it. */
  readonly source: string;
  read(scope: ReportScope, file?: string): Promise<Report>;
  /** A report of a snapshot that is at hand. */
  of(snapshot: LedgerSnapshot, scope: ReportScope): Report;
}

/** Reads the baseline and finds the ledger; throws UsageError where there can be none. */
export function openReports(
  line: CommandLine,
  io: Pick<CommandIo, 'cwd'>,
  settings: Settings,
  operations: readonly Operation[],
): Reports {
  const given = line.last('ledger');
  const source = given ?? settings.ledger.file;
  const baseline = baselineOf(line, io, settings);
  const placeOf = createContractPlaces(settings.contract.folder, operations, io.cwd);
  const of = (snapshot: LedgerSnapshot, { since, operation, release }: ReportScope) =>
    toReport(snapshot, { scope: { since, operation, release }, baseline, placeOf });
  return {
    source,
    of,
    read: async (scope, file) => {
      const path = resolve(io.cwd, file ?? source);
      if (file === undefined && source === IN_MEMORY)
        throw new UsageError('the ledger is in the memory of the gateway; name a file with --ledger or in ledger.file');
      // Before the first traffic there is no ledger yet; a name that somebody wrote must be there.
      if (file === undefined && given === undefined && !existsSync(path)) return of(emptySnapshot(), scope);
      return of(await readReportSource(path, queryOf(scope)), scope);
    },
  };
}

/** What is accepted: of the file that was named, else of the configuration's, which need not be there yet. */
function baselineOf(line: CommandLine, { cwd }: Pick<CommandIo, 'cwd'>, { contract }: Settings): Baseline {
  const named = line.last('baseline');
  if (named !== undefined) return readBaselineFile(resolve(cwd, named));
  const { baseline } = contract;
  return baseline === undefined || !existsSync(baseline) ? { accepted: [] } : readBaselineFile(baseline);
}

function queryOf({ since, operation, release }: ReportScope): LedgerQuery {
  return {
    ...(since !== undefined && { since }),
    ...(operation !== undefined && { operation }),
    ...(release !== undefined && { release }),
  };
}

const emptySnapshot = (): LedgerSnapshot => ({
  takenAt: Date.now(),
  since: undefined,
  releases: [],
  entries: [],
  traffic: [],
  dropped: 0,
});
