import { assembleGateway, type Assembly } from '../../engine/gateway.ts';
import type { Settings } from '../../engine/config/settings.ts';
import { loadOperations } from '../../engine/contract/load-contract.ts';
import { failures } from '../../workbench/report/fail-on.ts';
import { renderJson } from '../../workbench/report/json-report.ts';
import { shortLines } from '../../workbench/report/table-report.ts';
import { walk, type WalkSummary } from '../../workbench/walk/walk.ts';
import { toWalkedGateway, toWalkSettings } from '../../workbench/walk/send-walk-request.ts';
import { type CommandLine, EXIT } from '../../lib/command.ts';
import type { ProgramIo } from '../program.ts';
import { renderOptions, wantsJson } from '../command-output.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { settingsFrom } from '../flags/config-flags.ts';
import { readCredential } from '../flags/credentials.ts';
import { failRules, reportFailures } from '../flags/fail-flags.ts';
import { recordsAt, recordsInMemory } from '../flags/kept-records.ts';
import { walkBounds, walkedParameters } from '../flags/walk-flags.ts';
import { untilInterrupted } from '../terminal/signals.ts';
import { warningsTo } from '../terminal/warnings-to.ts';
import { createWalkProgress, walkFailure, walkLines } from '../terminal/walk-output.ts';
import { openReports } from './open-reports.ts';

/**
 * Walks a live server: sends requests for the contract's operations through an assembled gateway, and records the
 * violations in the ledger. Returns the exit code.
 */
export async function walkUpstream(line: CommandLine, io: ProgramIo): Promise<number> {
  const rules = failRules(line);
  const json = wantsJson(line);
  const settings = await settingsFrom(line, io, { release: '/release', ledger: '/ledger/file' });
  const operations = loadOperations(settings.contract);
  const bounds = walkBounds(line, walkedParameters(operations));
  const reports = openReports(line, io, settings, operations);
  const authorization = await readCredential(line, io);
  const assembly = assembleGateway(toWalkSettings(settings, bounds.timeoutMs), { logStream: warningsTo(io) });
  const walkLedger = createWalkLedger(settings, assembly);
  const interrupted = untilInterrupted();
  const progress = createWalkProgress(io, bounds.maxRequests);
  try {
    await assembly.services.records.open();
    io.err(
      `Walking ${line.last('against') ?? ''}: at most ${bounds.maxRequests} requests, ${bounds.delayMs} ms apart.`,
    );
    const summary = await walk(
      toWalkedGateway(assembly),
      {
        ...bounds,
        authorization,
        signal: interrupted.signal,
        record: (trace) => {
          assembly.services.records.record(trace);
          walkLedger.record(trace);
        },
        onProgress: progress.step,
      },
      () => undefined,
    );
    progress.end();
    await assembly.services.records.flush();
    const failure = walkFailure(summary, line, settings.profile);
    if (failure !== undefined && summary.walked.every(({ statuses }) => !hasResponse(statuses))) {
      if (json) io.out(walkJson(summary, { ok: false, failures: [failure], report: null }));
      io.err(`portico: ${failure}`);
      return EXIT.failed;
    }
    const scope = { since: undefined, operation: undefined, release: undefined };
    const report = reports.of(await walkLedger.snapshot(), scope);
    const failed = [...(failure === undefined ? [] : [failure]), ...failures(report, rules)];
    if (json) {
      const document: unknown = JSON.parse(renderJson(report, renderOptions(line, io)));
      io.out(walkJson(summary, { ok: failed.length === 0, failures: failed, report: document }));
    } else [...walkLines(summary), '', ...shortLines(report)].forEach(io.out);
    if (!json && recordsAt(settings).isLasting)
      io.out(`For the full report, run: portico report${ledgerArgument(line)}`);
    if (failure !== undefined) io.err(`portico: ${failure}`);
    const code = reportFailures(failures(report, rules), io);
    return failure === undefined ? code : EXIT.failed;
  } finally {
    interrupted.release();
    await walkLedger.close();
    await assembly.close();
  }
}

/** Formats the result of a walk. `report` is the walk's JSON report, or null if the server did not respond. */
function walkJson(
  { requests, ended, walked, notWalked }: WalkSummary,
  result: { readonly ok: boolean; readonly failures: readonly string[]; readonly report: unknown },
): string {
  const operations = walked.map((one) => ({ ...one, statuses: Object.fromEntries(one.statuses) }));
  const { report, ...verdict } = result;
  return jsonDocument('walk', { ...verdict, walk: { requests, ended, walked: operations, notWalked }, report });
}

const hasResponse = (statuses: ReadonlyMap<number, number>): boolean =>
  [...statuses.keys()].some((status) => status > 0);

/** Creates an in-memory ledger so that the report at the end of a walk contains only this walk's violations. */
function createWalkLedger(settings: Settings, { gateway, services }: Assembly) {
  return recordsInMemory(settings, {
    clock: gateway.clock,
    kindOf: services.kindOf,
    release: settings.release,
    operations: gateway.contract.operations.map(({ id }) => id),
  });
}

const ledgerArgument = (line: CommandLine): string => {
  const file = line.last('ledger');
  return file === undefined ? '' : ` --ledger ${file}`;
};
