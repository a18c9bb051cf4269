import { findingsOf, type Report, type ReportScope } from '../report/report.ts';
import { closestName } from '../lib/closest-name.ts';
import type { Reports } from './open-reports.ts';

/** Says that nothing was ever recorded under the release that was asked for, and under which there is something; undefined where there is. */
export async function absentRelease(
  { release }: Pick<ReportScope, 'release'>,
  report: Report,
  reports: Reports,
): Promise<string | undefined> {
  if (release === undefined || report.requests > 0 || findingsOf(report).length > 0) return undefined;
  const { releases } = await reports.read({ since: undefined, operation: undefined, release: undefined });
  if (releases.includes(release)) return undefined;
  const near = closestName(release, releases);
  const known = releases.length === 0 ? 'nothing under any' : releases.join(', ');
  return `nothing was recorded under the release ${release}; ${reports.source} has ${known}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
}
