import { renderHtml } from './html-report.ts';
import { renderJson } from './json-report.ts';
import { renderJunit } from './junit-report.ts';
import { renderMarkdown } from './markdown-report.ts';
import type { RenderReport } from './render-options.ts';
import { renderSarif } from './sarif-report.ts';
import { renderTable } from './table-report.ts';

/** The formats of a report by name. */
export const REPORT_FORMATS: ReadonlyMap<string, RenderReport> = new Map([
  ['table', renderTable],
  ['markdown', renderMarkdown],
  ['json', renderJson],
  ['junit', renderJunit],
  ['sarif', renderSarif],
  ['html', renderHtml],
]);
