import type { Operation } from '../model/operation.ts';

/** The path template that a raw path fits. */
export interface PathMatch {
  /** For example `/services/v2/comment/{commentId}.json`. */
  readonly template: string;
  readonly byMethod: ReadonlyMap<string, Operation>;
  /** Methods of inferred operations that are switched off: requests with them are to undocumented paths (rules, 10). */
  readonly undocumentedMethods: ReadonlySet<string>;
  /** Raw segments by the name of the path parameter, still percent-encoded. */
  readonly rawParameters: Readonly<Record<string, string>>;
}

/** A template with the operations under it. */
export type PathEntry = Omit<PathMatch, 'rawParameters'>;
