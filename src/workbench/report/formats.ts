import type { RenderComparison } from './comparison.ts';
import { renderComparedHtml, renderHtml } from './html-report.ts';
import { renderComparedJson, renderJson } from './json-report.ts';
import { renderComparedJunit, renderJunit } from './junit-report.ts';
import { renderComparedMarkdown, renderMarkdown } from './markdown-report.ts';
import type { RenderReport } from './report.ts';
import { renderComparedSarif, renderSarif } from './sarif-report.ts';
import { renderComparedTable, renderTable } from './table-report.ts';

/** An output format, with one function that renders a report and one that renders a comparison of two reports. */
interface ReportFormat {
  /**
   * `text` and `markup` are for people, and `data` is for programs. In `markup`, tags and entities have a special
   * meaning, so text from messages must be escaped.
   */
  readonly kind: 'text' | 'markup' | 'data';
  readonly report: RenderReport;
  readonly comparison: RenderComparison;
}

/** The report formats, keyed by name. All of them are available on the command line. */
export const REPORT_FORMATS: ReadonlyMap<string, ReportFormat> = new Map<string, ReportFormat>([
  ['table', { kind: 'text', report: renderTable, comparison: renderComparedTable }],
  ['markdown', { kind: 'markup', report: renderMarkdown, comparison: renderComparedMarkdown }],
  ['json', { kind: 'data', report: renderJson, comparison: renderComparedJson }],
  ['junit', { kind: 'markup', report: renderJunit, comparison: renderComparedJunit }],
  ['sarif', { kind: 'data', report: renderSarif, comparison: renderComparedSarif }],
  ['html', { kind: 'markup', report: renderHtml, comparison: renderComparedHtml }],
]);
