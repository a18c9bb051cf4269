import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { openLedgerFile } from '../ledger/open-ledger-file.ts';
import { StartFault } from '../model/fault.ts';
import type { LedgerQuery, LedgerSnapshot } from '../model/ledger-snapshot.ts';
import { parseJsonReport } from '../report/parse-json-report.ts';
import { ReportFault } from '../report/report-members.ts';

/** The most that an exported report is read of, in bytes. */
const MAX_REPORT_BYTES = 256 * 1024 * 1024;

/** Reads a part of a ledger's file, or a report that was exported as JSON; throws StartFault for what is neither. */
export async function readReportSource(path: string, query: LedgerQuery): Promise<LedgerSnapshot> {
  if (!existsSync(path)) throw fault(path, 'does not exist');
  if (isJson(path)) return readExported(path);
  const ledger = openLedgerFile(path);
  try {
    return await ledger.snapshot(query);
  } finally {
    ledger.close();
  }
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

/** True when the file begins as JSON does; a database begins with its name. */
function isJson(path: string): boolean {
  if (!statSync(path).isFile()) throw fault(path, 'is no file');
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
