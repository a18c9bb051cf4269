import type { Comparison } from './comparison.ts';
import type { Report } from './report.ts';

/** What a format is made with beside the report. */
export interface RenderOptions {
  /** Portico's own version. */
  readonly version: string;
  /** How many columns the terminal has. */
  readonly columns: number;
  /** True where colours can be shown. */
  readonly colours: boolean;
}

/** Makes the text of a report. */
export type RenderReport = (report: Report, options: RenderOptions) => string;

/** Makes the text of a comparison. */
export type RenderComparison = (comparison: Comparison, options: RenderOptions) => string;
