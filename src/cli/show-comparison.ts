import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { VIOLATION_CATEGORIES } from '../model/violation.ts';
import { compareReports, type Comparison } from '../report/comparison.ts';
import { failures } from '../report/fail-on.ts';
import { COMPARISON_FORMATS } from '../report/render-comparison.ts';
import type { Report, ReportScope } from '../report/report.ts';
import type { CommandIo } from './command-io.ts';
import { type CommandLine, UsageError } from './command.ts';
import type { Reports } from './open-reports.ts';
import type { ReportRequest } from './report-flags.ts';
import { tellFailures } from './tell-failures.ts';
import { renderOptions, writeText } from './write-text.ts';

/** Compares two releases of the ledger, or two exported reports; under `--fail-on new` what only the second has fails. */
export async function showComparison(
  [before, after]: readonly [string, string],
  request: ReportRequest,
  reports: Reports,
  line: CommandLine,
  io: CommandIo,
): Promise<number> {
  const sides = [
    [before, await side(before, request, reports, io.cwd)],
    [after, await side(after, request, reports, io.cwd)],
  ] as const;
  const comparison = compareReports(...sides);
  writeText(COMPARISON_FORMATS.get(request.format)?.(comparison, renderOptions(line, io)) ?? '', line, io);
  const added = failures(
    addedOf(comparison),
    request.rules.filter(({ kind }) => kind === 'new'),
  ).map((reason) => reason.replace('not in the baseline', `not in ${before}`));
  const others = failures(
    sides[1][1],
    request.rules.filter(({ kind }) => kind !== 'new'),
  );
  return tellFailures([...added, ...others], io);
}

async function side(name: string, scope: ReportScope, reports: Reports, cwd: string): Promise<Report> {
  const { since, operation } = scope;
  const path = resolve(cwd, name);
  // Folders are often called as releases are.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    return reports.read({ since, operation, release: undefined }, path);
  const all = await reports.read({ since: undefined, operation: undefined, release: undefined });
  if (all.releases.includes(name)) return reports.read({ since, operation, release: name });
  const known = all.releases.length === 0 ? 'it has none' : `it has ${all.releases.join(', ')}`;
  throw new UsageError(`--compare: "${name}" is neither a file nor a release of ${reports.source}; ${known}`);
}

/** What only the second side has. */
function addedOf({ findings }: Comparison): Pick<Report, 'groups'> {
  const added = findings.filter(({ change }) => change === 'new').map(({ finding }) => finding);
  return {
    groups: VIOLATION_CATEGORIES.map((category) => ({
      category,
      findings: added.filter(({ entry }) => entry.category === category),
    })),
  };
}
