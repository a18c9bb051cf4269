import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { createContractPlaces } from '../../engine/contract/contract-places.ts';
import type { Settings } from '../../engine/config/settings.ts';
import {
  type Baseline,
  emptySnapshot,
  type LedgerQuery,
  type LedgerSnapshot,
} from '../../engine/model/ledger-entry.ts';
import { systemClock } from '../../lib/clock.ts';
import { didYouMean } from '../../lib/closest-name.ts';
import { fileReason } from '../../lib/file-reason.ts';
import { StartFault } from '../../engine/model/fault.ts';
import type { Operation } from '../../engine/model/operation.ts';
import { parseJsonReport, ReportFault } from '../../workbench/report/json-report.ts';
import { type Report, type ReportInput, type ReportScope, toReport } from '../../workbench/report/report.ts';
import { type CommandIo, type CommandLine, UsageError } from '../../lib/command.ts';
import { readBaseline } from '../flags/fail-flags.ts';
import { recordsAt } from '../flags/kept-records.ts';

/** Creates reports from the ledger specified on the command line or in the configuration, or from another file. */
export interface Reports {
  /** The name of the source, as specified by the user. */
  readonly source: string;
  /** The accepted violations. */
  readonly baseline: Baseline;
  /** Creates a report. `comparedWith` is described in `ReportInput`. */
  read(scope: ReportScope, file?: string, comparedWith?: ReportInput['comparedWith']): Promise<Report>;
  /** Creates a report from a ledger snapshot. */
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
  const ledger = recordsAt(settings, ledgerFlag);
  const baseline = readBaseline(line, io, settings);
  const placeOf = createContractPlaces(settings.contract.folder, operations, io.cwd);
  const of = (
    snapshot: LedgerSnapshot,
    { since, operation, release, replica }: ReportScope,
    comparedWith?: ReportInput['comparedWith'],
  ) => {
    requireKnownReplica(replica, snapshot, ledger.name);
    const scope = { since, operation, release, replica };
    return toReport(snapshot, { scope, baseline, placeOf, ...(comparedWith !== undefined && { comparedWith }) });
  };
  return {
    source: ledger.name,
    baseline,
    of,
    read: async (scope, file, comparedWith) => {
      const query = queryOf(scope);
      if (file === undefined && !ledger.isLasting)
        throw new UsageError('the ledger is in the memory of the gateway; set a file with --ledger or ledger.file');
      const named = file ?? ledgerFlag;
      // A file named on the command line must exist, unless it is named by --ledger and --allow-empty is set. The
      // configured ledger may be missing, because the first request creates it.
      const mayBeMissing = file === undefined && line.has('allow-empty');
      if (named !== undefined && !(mayBeMissing && !existsSync(resolve(io.cwd, named))))
        return of(await readReportFile(resolve(io.cwd, named), query, settings), scope, comparedWith);
      return of((await ledger.read(query)) ?? emptySnapshot({}, systemClock()), scope, comparedWith);
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

/** The maximum size of an exported report, in bytes. */
const MAX_REPORT_BYTES = 256 * 1024 * 1024;

/** Reads a ledger file or a JSON report. Throws a StartFault for any other file. */
async function readReportFile(path: string, query: LedgerQuery, settings: Settings): Promise<LedgerSnapshot> {
  if (startOf(path) === 'json') return readExported(path);
  return (await recordsAt(settings, path).read(query)) ?? emptySnapshot({}, systemClock());
}

function readExported(path: string): LedgerSnapshot {
  if (statSync(path).size > MAX_REPORT_BYTES) throw fault(path, `is larger than ${MAX_REPORT_BYTES} bytes`);
  try {
    return parseJsonReport(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof ReportFault) throw fault(path, error.message);
    throw error;
  }
}

/**
 * Returns the kind of a file, which its start shows. The ledger of a gateway without requests is an empty file. Throws a
 * StartFault if the file is of another kind or cannot be read.
 */
function startOf(path: string): 'json' | 'ledger' {
  const start = firstBytes(path);
  if (start === '' || start.startsWith('SQLite format')) return 'ledger';
  if (/^\uFEFF?\s*[{[]/.test(start)) return 'json';
  throw fault(path, 'is neither a ledger nor a JSON report');
}

function firstBytes(path: string): string {
  try {
    // Opening a pipe would wait for a writer.
    if (!statSync(path).isFile()) throw fault(path, 'is not a file');
    const file = openSync(path, 'r');
    try {
      const start = Buffer.alloc(64);
      return start.toString('utf8', 0, readSync(file, start, 0, start.length, 0));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof StartFault) throw error;
    throw fault(path, `cannot be read: ${fileReason(error)}`);
  }
}

const fault = (source: string, message: string): StartFault =>
  new StartFault([{ source, pointer: '', message, suggestion: REPORTED_FILES }]);

const REPORTED_FILES = 'name the file of ledger.file, or a report that was written with portico report --format json';
