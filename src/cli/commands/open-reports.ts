import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import type { Settings } from '../../config/settings.ts';
import { bundlePlace, contractFolder, resourceFile } from '../../contract/contract-files.ts';
import { placeOfSchema } from '../../contract/generate/place-of-schema.ts';
import type { OpenApiDocument } from '../../contract/openapi-document.ts';
import { readBaselineFile } from '../../ledger/baseline-file.ts';
import { emptySnapshot } from '../../ledger/ledger-store.ts';
import { ledgerAt, withLedgerFile } from '../../ledger/store/ledger-location.ts';
import { systemClock } from '../../lib/clock.ts';
import { escapePointer, keysOf, pointerTo, valueAt } from '../../lib/json-pointer.ts';
import { StartFault } from '../../model/fault.ts';
import type { Baseline, LedgerEntry } from '../../model/ledger-entry.ts';
import type { LedgerQuery, LedgerSnapshot } from '../../model/ledger-snapshot.ts';
import type { Operation } from '../../model/operation.ts';
import { parseJsonReport, ReportFault } from '../../report/json-report.ts';
import { type ContractPlace, type Report, type ReportScope, toReport } from '../../report/report.ts';
import { type CommandIo, type CommandLine, EXIT, UsageError } from '../command.ts';

/** Creates reports from the ledger that the command line or the configuration names, or from another file. */
export interface Reports {
  /** The name of the source, as the user wrote it. */
  readonly source: string;
  read(scope: ReportScope, file?: string): Promise<Report>;
  /** Creates a report from a snapshot of a ledger. */
  of(snapshot: LedgerSnapshot, scope: ReportScope): Report;
}

/** Reads the baseline and locates the ledger. If the ledger is in memory, reading a report throws a UsageError. */
export function openReports(
  line: CommandLine,
  io: Pick<CommandIo, 'cwd'>,
  settings: Settings,
  operations: readonly Operation[],
): Reports {
  const ledgerFlag = line.last('ledger');
  const ledger = ledgerAt(ledgerFlag === undefined ? settings.ledger : withLedgerFile(settings.ledger, ledgerFlag));
  const baseline = baselineOf(line, io, settings);
  const placeOf = createContractPlaces(settings.contract.folder, operations, io.cwd);
  const of = (snapshot: LedgerSnapshot, { since, operation, release }: ReportScope) =>
    toReport(snapshot, { scope: { since, operation, release }, baseline, placeOf });
  return {
    source: ledger.name,
    of,
    read: async (scope, file) => {
      const query = queryOf(scope);
      if (file === undefined && !ledger.isLasting)
        throw new UsageError('the ledger is in the memory of the gateway; set a file with --ledger or ledger.file');
      const named = file ?? ledgerFlag;
      // A file that the user names must exist. The configured ledger does not exist before the first request.
      if (named !== undefined) return of(await readReportFile(resolve(io.cwd, named), query, settings), scope);
      return of((await ledger.read(query)) ?? emptySnapshot({}, systemClock()), scope);
    },
  };
}

/**
 * Reads the baseline that `--baseline` names. Without this flag, reads the configured baseline, which may not exist
 * yet.
 */
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

/** The maximum size of an exported report, in bytes. */
const MAX_REPORT_BYTES = 256 * 1024 * 1024;

/** Reads a ledger file or a JSON report. Throws a StartFault for any other file. */
async function readReportFile(path: string, query: LedgerQuery, { ledger }: Settings): Promise<LedgerSnapshot> {
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

/** Returns true if a file starts like JSON text. An SQLite database starts with the name of its format. */
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

/** Writes one line to standard error with the reasons why a report failed. Returns the exit code. */
export function reportFailures(reasons: readonly string[], io: Pick<CommandIo, 'err'>): number {
  if (reasons.length === 0) return EXIT.ok;
  io.err(`portico: failed: ${reasons.join('; ')}`);
  return EXIT.failed;
}

interface ReadFile {
  readonly document: Document;
  readonly lines: LineCounter;
}

const OPENAPI = 'openapi.yaml';

/**
 * Creates a function that finds the place in the contract to which a ledger entry refers. The place includes the
 * current line number.
 */
export function createContractPlaces(
  folder: string | undefined,
  operations: readonly Operation[],
  cwd: string,
): (entry: LedgerEntry) => ContractPlace {
  const root = folder ?? contractFolder();
  const shown = folder === undefined ? 'schemas' : relative(cwd, folder);
  const files = new Map<string, ReadFile | undefined>();
  const read = (file: string): ReadFile | undefined => {
    if (!files.has(file)) files.set(file, readYaml(join(root, file)));
    return files.get(file);
  };
  const lineOf = (file: string, pointer: string): number | undefined => {
    const found = read(file);
    const offset = found === undefined ? undefined : offsetAt(found.document, pointer);
    return offset === undefined ? undefined : found?.lines.linePos(offset).line;
  };
  let contract: unknown;
  const value = (): unknown => (contract ??= read(OPENAPI)?.document.toJS() as unknown);

  const inDocument = (pointer: string): ContractPlace => ({
    file: join(shown, OPENAPI),
    pointer,
    line: lineOf(OPENAPI, pointer),
    schema: undefined,
  });

  return (entry) => {
    const [path = '', pointer = ''] = entry.schemaPath.split('#');
    if (/^(?:resources|operations)\/[\w./-]+\.json$/.test(path) && !path.includes('..')) {
      const { file, name } = bundlePlace(path);
      const inFile = name === undefined ? pointer : `/$defs/${name}${pointer}`;
      if (read(file) === undefined) return inDocument(placeOfSchema(value() as OpenApiDocument, path));
      return {
        file: join(shown, file),
        pointer: inFile,
        line: lineOf(file, inFile),
        schema: schemaAt(path, pointer, value()),
      };
    }
    return inDocument(operationPointer(entry, operations, value()));
  };
}

function operationPointer(
  { operation: id, direction, status }: LedgerEntry,
  operations: readonly Operation[],
  contract: unknown,
): string {
  const operation = operations.find((one) => one.id === id);
  if (operation === undefined) return '/paths';
  const at = `/paths/${escapePointer(operation.path)}/${operation.method.toLowerCase()}`;
  if (direction === 'request') return at;
  const response = `${at}/responses/${status ?? 'default'}`;
  return valueAt(contract, response) === undefined ? `${at}/responses` : response;
}

/** Returns the schema in `openapi.yaml` that a place in a generated file comes from. */
function schemaAt(file: string, pointer: string, contract: unknown): ContractPlace['schema'] {
  const schemas = valueAt(contract, '/components/schemas');
  if (typeof schemas !== 'object' || schemas === null) return undefined;
  const name = Object.keys(schemas).find((one) => [resourceFile(one), resourceFile(one, true)].includes(file));
  if (name === undefined) return undefined;
  const keys = ['components', 'schemas', name, ...keysOf(pointer).slice(0, -1)];
  const value = valueAt(contract, pointerTo(keys));
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.hasOwn(value, '$ref'))
    return undefined;
  const path = keys.map((key) =>
    /^\d+$/.test(key) ? `[${key}]` : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`,
  );
  return { target: `$${path.join('')}`, value: value as Readonly<Record<string, unknown>> };
}

function readYaml(path: string): ReadFile | undefined {
  if (!existsSync(path)) return undefined;
  const lines = new LineCounter();
  return { document: parseDocument(readFileSync(path, 'utf8'), { lineCounter: lines }), lines };
}

/**
 * Returns the offset of the value at a pointer. If the value does not exist, the offset of its closest existing
 * ancestor is returned.
 */
function offsetAt(document: Document, pointer: string): number | undefined {
  for (let keys = keysOf(pointer); ; keys = keys.slice(0, -1)) {
    const node = document.getIn(keys, true);
    if (isNode(node) && node.range) return node.range[0];
    if (keys.length === 0) return undefined;
  }
}
