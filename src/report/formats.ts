import { renderComparedHtml, renderHtml } from './html-report.ts';
import { renderComparedJson, renderJson } from './json-report.ts';
import { renderComparedJunit, renderJunit } from './junit-report.ts';
import { renderComparedMarkdown, renderMarkdown } from './markdown-report.ts';
import type { RenderComparison, RenderReport } from './render-options.ts';
import { renderComparedSarif, renderSarif } from './sarif-report.ts';
import { renderComparedTable, renderTable } from './table-report.ts';

/** An output format: one function renders a report, and the other renders a comparison of two reports. */
interface ReportFormat {
  readonly report: RenderReport;
  readonly comparison: RenderComparison;
}

/** The formats by name. The command line offers all of them. */
export const REPORT_FORMATS: ReadonlyMap<string, ReportFormat> = new Map([
  ['table', { report: renderTable, comparison: renderComparedTable }],
  ['markdown', { report: renderMarkdown, comparison: renderComparedMarkdown }],
  ['json', { report: renderJson, comparison: renderComparedJson }],
  ['junit', { report: renderJunit, comparison: renderComparedJunit }],
  ['sarif', { report: renderSarif, comparison: renderComparedSarif }],
  ['html', { report: renderHtml, comparison: renderComparedHtml }],
]);
