import type { Comparison } from './comparison.ts';
import type { Report } from './report.ts';

/** The options for rendering a report. */
export interface RenderOptions {
  /** Portico's own version. */
  readonly version: string;
  /** The width of the terminal in columns. */
  readonly columns: number;
  /** True if the output may have colors. */
  readonly colors: boolean;
}

/** Renders a report in one output format. */
export type RenderReport = (report: Report, options: RenderOptions) => string;

/** Renders a comparison in one output format. */
export type RenderComparison = (comparison: Comparison, options: RenderOptions) => string;
