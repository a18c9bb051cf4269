import { assembleGateway, type Assembly } from '../../gateway.ts';
import type { Settings } from '../../config/settings.ts';
import { createLedger, type Ledger } from '../../ledger/record/create-ledger.ts';
import { openMemoryStore } from '../../ledger/store/memory-store.ts';
import { loadContract } from '../../contract/load-contract.ts';
import { failures } from '../../report/fail-on.ts';
import { shortLines } from '../../report/table-report.ts';
import { walk } from '../../walk/walk.ts';
import { toWalkedHouse, toWalkSettings } from '../../walk/walked-gateway.ts';
import { IN_MEMORY } from '../../files/replace-file.ts';
import { type CommandIo, type CommandLine, EXIT } from '../command.ts';
import { settingsFrom } from '../config-flags.ts';
import { openReports, tellFailures } from './open-reports.ts';
import { failRules } from './report-flags.ts';
import { untilInterrupted } from '../terminal/signals.ts';
import { walkBounds, walkCredential, walkedParameters } from './walk-flags.ts';
import { createWalkProgress, walkFailure, walkLines } from '../terminal/walk-lines.ts';

/** Walks a live server through the gateway's own house and fills the ledger with what differs; the exit code. */
export async function walkUpstream(line: CommandLine, io: CommandIo): Promise<number> {
  const rules = failRules(line);
  const settings = await settingsFrom(line, io, { release: '/release', ledger: '/ledger/file' });
  const { operations } = loadContract(settings.contract);
  const bounds = walkBounds(line, walkedParameters(operations));
  const reports = openReports(line, io, settings, operations);
  const authorization = await walkCredential(line, io);
  const assembly = assembleGateway(toWalkSettings(settings, bounds.timeoutMs), { logStream: warningsTo(io) });
  const own = ownLedger(settings, assembly);
  const interrupted = untilInterrupted();
  const progress = createWalkProgress(io, bounds.maxRequests);
  try {
    await assembly.services.ledger.open();
    io.err(
      `Walking ${line.last('against') ?? ''}: ${bounds.maxRequests} requests at most, ${bounds.delayMs} ms between them.`,
    );
    const summary = await walk(
      toWalkedHouse(assembly.house),
      {
        ...bounds,
        authorization,
        signal: interrupted.signal,
        record: (trace) => {
          assembly.services.ledger.record(trace);
          own.record(trace);
        },
        onProgress: progress.step,
      },
      () => undefined,
    );
    progress.end();
    await assembly.services.ledger.flush();
    const failed = walkFailure(summary, line);
    if (failed !== undefined && summary.walked.every(({ statuses }) => !hasAnswer(statuses))) {
      io.err(`portico: ${failed}`);
      return EXIT.failed;
    }
    const report = reports.of(await own.snapshot(), { since: undefined, operation: undefined, release: undefined });
    [...walkLines(summary), '', ...shortLines(report)].forEach(io.out);
    if (settings.ledger.file !== IN_MEMORY) io.out(`The whole report: portico report${ledgerWords(line)}`);
    if (failed !== undefined) io.err(`portico: ${failed}`);
    const code = tellFailures(failures(report, rules), io);
    return failed === undefined ? code : EXIT.failed;
  } finally {
    interrupted.release();
    await own.close();
    await assembly.close();
  }
}

const hasAnswer = (statuses: ReadonlyMap<number, number>): boolean => [...statuses.keys()].some((status) => status > 0);

/** The walk's own part of the ledger, which a report at its end is made of. */
function ownLedger({ release, ledger }: Settings, { house, services }: Assembly): Ledger {
  return createLedger({
    clock: house.clock,
    kindOf: services.kindOf,
    release,
    operations: house.contract.operations.map(({ id }) => id),
    inMemory: openMemoryStore(ledger),
  });
}

const ledgerWords = (line: CommandLine): string => {
  const file = line.last('ledger');
  return file === undefined ? '' : ` --ledger ${file}`;
};

/** Passes on what the gateway warns of; its other lines are about a process that serves. */
function warningsTo(io: Pick<CommandIo, 'err'>) {
  return {
    write: (text: string): void => {
      const { level, msg, reason } = JSON.parse(text) as Readonly<Record<string, unknown>>;
      if (level === 'warn' || level === 'error' || (typeof level === 'number' && level >= 40))
        io.err(`portico: ${[msg, reason].filter((part) => typeof part === 'string').join(': ')}`);
    },
  };
}
