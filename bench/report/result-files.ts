import type { Results } from '../results.ts';
import { toChart } from './chart.ts';
import { toJson } from './json.ts';
import { toDetails, toSummary } from './markdown.ts';
import type { ReportFile } from './write-files.ts';

/** Returns the files that belong into the repository after a complete run: one table and one picture. */
export function summaryFiles(results: Results): readonly ReportFile[] {
  return [
    { name: 'results.svg', text: toChart(results) },
    { name: 'RESULTS.md', text: toSummary(results, 'results.svg') },
  ];
}

/** Returns the files with all measurements. */
export function detailFiles(results: Results): readonly ReportFile[] {
  return [
    { name: 'DETAILS.md', text: toDetails(results) },
    { name: 'results.json', text: toJson(results) },
  ];
}
