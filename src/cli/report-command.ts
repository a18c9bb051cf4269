import { loadContract } from '../contract/load-contract.ts';
import { systemClock } from '../lib/clock.ts';
import { failures } from '../report/fail-on.ts';
import { REPORT_FORMATS } from '../report/formats.ts';
import { absentRelease } from './absent-release.ts';
import { type Command, EXIT } from './command.ts';
import { CONFIG_FLAGS, settingsFrom } from './config-flags.ts';
import { openReports } from './open-reports.ts';
import { knownOperation } from './known-operation.ts';
import { FAIL_FLAGS, reportRequest } from './report-flags.ts';
import { showComparison } from './show-comparison.ts';
import { showFinding } from './show-finding.ts';
import { tellFailures } from './tell-failures.ts';
import { renderOptions, writeText } from './write-text.ts';

/** `portico report`: what the ledger holds, for people, pull requests and pipelines. */
export const reportCommand: Command = {
  name: 'report',
  summary: 'Report violations from the ledger, or one of them in detail',
  words: '[FINGERPRINT]',
  wordCount: [0, 1],
  flags: [
    ...CONFIG_FLAGS.filter(({ name }) => name === 'config'),
    { name: 'ledger', value: 'FILE', help: 'A ledger, or a JSON report; ledger.file by default.' },
    { name: 'format', value: 'FORMAT', help: `${[...REPORT_FORMATS.keys()].join(', ')}; table by default.` },
    { name: 'output', value: 'FILE', help: 'Where it goes instead of standard output (-).' },
    { name: 'since', value: 'TIME', help: '24h, 7d, or an instant such as 2026-05-04T10:00Z.' },
    { name: 'operation', value: 'ID', help: 'Only this operation.' },
    { name: 'release', value: 'LABEL', help: 'Only what was seen under this release.' },
    { name: 'compare', value: 'A', help: 'Followed by B: two releases, or two JSON reports.' },
    ...FAIL_FLAGS,
  ],
  notes: [
    'portico report --baseline portico.baseline.yaml --fail-on new',
    'portico report --since 24h --format markdown --output report.md',
    'portico report --compare 1.0 1.1 --fail-on new',
    '',
    'Exit code 1 when a rule of --fail-on is met; standard error says which.',
  ],
  run: async (line, io) => {
    const request = reportRequest(line, systemClock());
    const settings = await settingsFrom(line, io);
    const { operations } = loadContract(settings.contract);
    knownOperation(
      request.operation,
      operations.map(({ id }) => id),
      '--operation',
    );
    const reports = openReports(line, io, settings, operations);
    const { fingerprint, compare, format, rules } = request;
    if (fingerprint !== undefined) return showFinding(fingerprint, request, reports, line, io);
    if (compare !== undefined) return showComparison(compare, request, reports, line, io);
    const report = await reports.read(request);
    writeText(REPORT_FORMATS.get(format)?.(report, renderOptions(line, io)) ?? '', line, io);
    const absent = await absentRelease(request, report, reports);
    if (absent !== undefined) io.err(`portico: ${absent}`);
    // A gate that has judged nothing must not open: the label was mistyped, or the gateway has another.
    return absent !== undefined && rules.length > 0 ? EXIT.failed : tellFailures(failures(report, rules), io);
  },
};
