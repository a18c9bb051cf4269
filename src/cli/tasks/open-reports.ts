import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createContractPlaces } from '../../assembly/operators/operator-console.ts';
import type { Settings } from '../../config/settings.ts';
import { emptySnapshot } from '../../ledger/ledger-snapshot.ts';
import { ledgerAt, withLedgerFile } from '../../ledger/store/ledger-location.ts';
import { systemClock } from '../../lib/clock.ts';
import { didYouMean } from '../../lib/closest-name.ts';
import type { LedgerQuery, LedgerSnapshot } from '../../model/ledger-entry.ts';
import type { Operation } from '../../model/operation.ts';
import { type Report, type ReportScope, toReport } from '../../report/report.ts';
import { type CommandIo, type CommandLine, UsageError } from '../command.ts';
import { readBaseline } from '../flags/fail-flags.ts';
import { readReportFile } from './read-report-file.ts';

/** Creates reports from the ledger that the command line or the configuration specifies, or from another file. */
export interface Reports {
  /** The name of the source, as the user wrote it. */
  readonly source: string;
  read(scope: ReportScope, file?: string): Promise<Report>;
  /** Creates a report from a snapshot of a ledger. */
  of(snapshot: LedgerSnapshot, scope: ReportScope): Report;
}

/** Reads the baseline and locates the ledger. If the ledger is in the gateway's memory, `read` throws a UsageError. */
export function openReports(
  line: CommandLine,
  io: Pick<CommandIo, 'cwd'>,
  settings: Settings,
  operations: readonly Operation[],
): Reports {
  const ledgerFlag = line.last('ledger');
  const options = ledgerFlag === undefined ? settings.ledger : withLedgerFile(settings.ledger, ledgerFlag);
  const ledger = ledgerAt(options, settings.redis);
  const baseline = readBaseline(line, io, settings);
  const placeOf = createContractPlaces(settings.contract.folder, operations, io.cwd);
  const of = (snapshot: LedgerSnapshot, { since, operation, release, replica }: ReportScope) => {
    requireKnownReplica(replica, snapshot, ledger.name);
    return toReport(snapshot, { scope: { since, operation, release, replica }, baseline, placeOf });
  };
  return {
    source: ledger.name,
    of,
    read: async (scope, file) => {
      const query = queryOf(scope);
      if (file === undefined && !ledger.isLasting)
        throw new UsageError('the ledger is in the memory of the gateway; set a file with --ledger or ledger.file');
      const named = file ?? ledgerFlag;
      // A named file must exist, unless --allow-empty is set. The configured ledger is created on the first request.
      const mayBeMissing = file === undefined && line.all('allow-empty').length > 0;
      if (named !== undefined && !(mayBeMissing && !existsSync(resolve(io.cwd, named))))
        return of(await readReportFile(resolve(io.cwd, named), query, settings), scope);
      return of((await ledger.read(query)) ?? emptySnapshot({}, systemClock()), scope);
    },
  };
}

function requireKnownReplica(replica: string | undefined, { replicas }: LedgerSnapshot, ledger: string): void {
  const known = replicas?.map((one) => one.replica);
  if (replica === undefined || known?.includes(replica) === true) return;
  if (known === undefined) throw new UsageError('--replica requires a ledger that gateways share');
  throw new UsageError(`--replica: ${ledger} has no counts of ${replica}${didYouMean(replica, known)}`);
}

const queryOf = ({ since, operation, release, replica }: ReportScope): LedgerQuery => ({
  ...(since !== undefined && { since }),
  ...(operation !== undefined && { operation }),
  ...(release !== undefined && { release }),
  ...(replica !== undefined && { replica }),
});
