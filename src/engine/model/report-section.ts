/** A part of a report about something other than violations, such as what a feature has counted. */
export interface ReportSection {
  /** The name by which `portico report --section` finds it, and its member in JSON. */
  readonly id: string;
  readonly title: string;
  /** Sentences before the tables. */
  readonly text: readonly string[];
  readonly tables: readonly ReportTable[];
  /** The same as data. */
  readonly data: unknown;
}

/** A table in a section. */
export interface ReportTable {
  readonly title: string;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly (readonly string[])[];
  /** What the table contains none of, if it has no rows. */
  readonly empty: string;
}

/** A column of a table. Numbers are aligned at their ends. */
export interface ReportColumn {
  readonly title: string;
  readonly isNumber?: boolean;
}
