import type { Sql } from './store/sql.ts';

/** The services shared by all operations of the reference server. */
export interface ReferenceContext {
  readonly sql: Sql;
  /** Returns the current time in epoch milliseconds. */
  readonly clock: () => number;
  /** The server's own absolute URL, including its base path and without a trailing slash. */
  readonly url: string;
  /** The issue tracker's absolute URL, without a trailing slash. */
  readonly trackerUrl: string;
}
