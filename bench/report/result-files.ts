import type { Results } from '../results.ts';
import { toChart } from './chart.ts';
import { toJson } from './json.ts';
import { toMarkdown } from './markdown.ts';
import type { ReportFile } from './write-files.ts';

/** Returns the contents of RESULTS.md, results.json and results.svg. */
export function resultFiles(results: Results): readonly ReportFile[] {
  return [
    { name: 'results.svg', text: toChart(results) },
    { name: 'RESULTS.md', text: toMarkdown(results, 'results.svg') },
    { name: 'results.json', text: toJson(results) },
  ];
}
