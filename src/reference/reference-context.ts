import type { Sql } from './store/sql.ts';

/** What every operation of the reference server works on. */
export interface ReferenceContext {
  readonly sql: Sql;
  /** The time now, epoch ms. */
  readonly clock: () => number;
  /** The server's own absolute address with its base path, no slash at the end. */
  readonly url: string;
  /** The issue tracker's absolute address, no slash at the end. */
  readonly trackerUrl: string;
}
