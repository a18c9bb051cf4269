import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import type { Settings } from '../../config/settings.ts';
import { emptySnapshot } from '../../ledger/ledger-snapshot.ts';
import { ledgerAt, withLedgerFile } from '../../ledger/store/ledger-location.ts';
import { systemClock } from '../../lib/clock.ts';
import { StartFault } from '../../model/fault.ts';
import type { LedgerQuery, LedgerSnapshot } from '../../model/ledger-entry.ts';
import { parseJsonReport, ReportFault } from '../../report/json-report.ts';

/** The maximum size of an exported report, in bytes. */
const MAX_REPORT_BYTES = 256 * 1024 * 1024;

/** Reads a ledger file or a JSON report. Throws a StartFault for any other file. */
export async function readReportFile(path: string, query: LedgerQuery, { ledger }: Settings): Promise<LedgerSnapshot> {
  if (!existsSync(path)) throw fault(path, 'does not exist');
  if (isJson(path)) return readExported(path);
  return (await ledgerAt(withLedgerFile(ledger, path)).read(query)) ?? emptySnapshot({}, systemClock());
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

/** Returns true if a file begins like JSON. An SQLite file begins with `SQLite format`. */
function isJson(path: string): boolean {
  if (!statSync(path).isFile()) throw fault(path, 'is not a file');
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(64);
    const length = readSync(file, start, 0, start.length, 0);
    return /^\uFEFF?\s*[{[]/.test(start.toString('utf8', 0, length));
  } finally {
    closeSync(file);
  }
}

const fault = (source: string, message: string): StartFault => new StartFault([{ source, pointer: '', message }]);
