import { loadContract } from '../../engine/contract/load-contract.ts';
import { createKindOf } from '../../engine/model/violation-kind.ts';
import { systemClock } from '../../lib/clock.ts';
import { type CommandLine, EXIT } from '../../lib/command.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { type CaptureSummary, checkCapture, type NotChecked } from '../../workbench/captures/check-capture.ts';
import { failures } from '../../workbench/report/fail-on.ts';
import { renderJson } from '../../workbench/report/json-report.ts';
import { countWords } from '../../lib/count-words.ts';
import { shortLines } from '../../workbench/report/table-report.ts';
import { renderOptions, wantsJson } from '../command-output.ts';
import { settingsFrom } from '../flags/config-flags.ts';
import { failRules, reportFailures } from '../flags/fail-flags.ts';
import { recordsInMemory } from '../flags/kept-records.ts';
import type { ProgramIo } from '../program.ts';
import { untilInterrupted } from '../terminal/signals.ts';
import { openReports } from './open-reports.ts';
import { mainReason, openRecording, RESPONSES } from './open-recording.ts';

const EXCHANGES_PER_LINE = 10_000;

/**
 * Checks the exchanges in a recording against the contract, without a server. The recording may be of any size. Returns
 * the exit code.
 */
export async function checkRecording(line: CommandLine, io: ProgramIo): Promise<number> {
  const rules = failRules(line);
  const json = wantsJson(line);
  const settings = await settingsFrom(line, io, { release: '/release' });
  const contract = loadContract(settings.contract);
  const reports = openReports(line, io, settings, contract.operations);
  const name = line.last('from') ?? '';
  const recording = openRecording(name, io, settings.profile.basePath, RESPONSES);
  const records = recordsInMemory(settings, {
    clock: systemClock,
    kindOf: createKindOf(),
    release: settings.release,
    operations: contract.operations.map(({ id }) => id),
  });
  const interrupted = untilInterrupted();
  try {
    await records.open();
    const summary = await checkCapture(recording.entries, {
      contract,
      clock: systemClock,
      jsonLimits: { depth: settings.upstream.maxJsonDepth, values: settings.upstream.maxJsonValues },
      signal: interrupted.signal,
      record: (trace) => records.record(trace),
      flush: () => records.flush(),
      onProgress: (count) => {
        if (count % EXCHANGES_PER_LINE === 0) (io.live ?? io.err)(countWords(count, 'exchange'));
      },
    });
    io.live?.('');
    const report = reports.of(await records.snapshot(), { since: undefined, operation: undefined, release: undefined });
    const unread = recording.failure();
    const incomplete = [
      ...(summary.checked === 0 ? [nothingChecked(name, summary)] : []),
      ...(summary.isInterrupted ? ['interrupted by a signal'] : []),
      ...(unread === undefined ? [] : [`${unread}; what follows was not checked`]),
    ];
    const failed = [...incomplete, ...failures(report, rules)];
    if (json) {
      const document: unknown = JSON.parse(renderJson(report, renderOptions(line, io)));
      io.out(
        jsonDocument('recording', {
          ok: failed.length === 0,
          failures: failed,
          recording: {
            exchanges: summary.exchanges,
            checked: summary.checked,
            notChecked: Object.fromEntries(summary.notChecked),
            operations: Object.fromEntries(summary.operations),
            interrupted: summary.isInterrupted,
          },
          report: document,
        }),
      );
    } else [...recordingLines(summary), '', ...shortLines(report)].forEach(io.out);
    if (incomplete.length > 0) {
      io.err(`portico: failed: ${failed.join('; ')}`);
      return EXIT.failed;
    }
    return reportFailures(failed, io);
  } finally {
    interrupted.release();
    await records.close();
  }
}

/** Says why nothing was checked, and what to do about it. */
function nothingChecked(name: string, { exchanges, notChecked }: CaptureSummary): string {
  const words = `${name} has no response that can be checked`;
  if (exchanges === 0) return `${words}: it contains no exchanges; ${RESPONSES}`;
  return `${words}: ${mainReason([...notChecked], FIXES)}`;
}

const FIXES: Partial<Record<NotChecked, string>> = {
  'not a request': RESPONSES,
  'not in the contract': 'record responses of the API',
  'no body recorded': 'record the bodies as well; browsers save them in a HAR file “with content”',
  'not modified': 'record with an empty cache',
};

/** Returns the lines that say what was checked, and what was not. */
function recordingLines({ exchanges, checked, notChecked, isInterrupted }: CaptureSummary): readonly string[] {
  const end = isInterrupted ? '; interrupted by a signal' : '';
  return [
    `Checked ${countWords(checked, 'response')} of ${countWords(exchanges, 'exchange')}${end}.`,
    ...Array.from(notChecked, ([because, count]) => `  not checked: ${because} ×${count}`),
  ];
}
