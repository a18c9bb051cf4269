import { detailLines } from '../report/detail-lines.ts';
import { toJsonFinding } from '../report/json-report.ts';
import { jsonText } from '../report/json-text.ts';
import { findingsOf } from '../report/report.ts';
import type { CommandIo } from './command-io.ts';
import { type CommandLine, EXIT } from './command.ts';
import type { Reports } from './open-reports.ts';
import type { ReportRequest } from './report-flags.ts';
import { writeText } from './write-text.ts';

/** Shows one violation in detail; the beginning of its fingerprint is enough where only one has it. */
export async function showFinding(
  fingerprint: string,
  request: ReportRequest,
  reports: Reports,
  line: CommandLine,
  io: CommandIo,
): Promise<number> {
  const report = await reports.read(request);
  const all = [...findingsOf(report), ...report.candidates];
  const found = all.filter(({ entry }) => entry.fingerprint.startsWith(fingerprint));
  const finding = found.find(({ entry }) => entry.fingerprint === fingerprint) ?? found[0];
  if (finding === undefined || (found.length > 1 && finding.entry.fingerprint !== fingerprint)) {
    const many = found.map(({ entry }) => entry.fingerprint).join(', ');
    const why = finding === undefined ? 'none begins with' : `several begin with it (${many}):`;
    io.err(`portico: no single violation: ${why} ${fingerprint} in ${reports.source}. portico report lists them.`);
    return EXIT.failed;
  }
  const text = request.format === 'json' ? jsonText(toJsonFinding(finding)) : detailLines(finding).join('\n');
  writeText(text, line, io);
  return EXIT.ok;
}
