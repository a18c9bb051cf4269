import type { RequestHandler } from 'express';
import type { OperatorAction } from '../model/operator-action.ts';

/** A part of the admin side. */
export interface AdminRoute {
  /** The path, such as `/cache/purge`. The handler also gets requests to longer paths that start with it. */
  readonly path: string;
  /** Who may use it: only operators, or whoever reaches the admin side. */
  readonly access: 'operator' | 'anyone';
  /** Handles the request, or calls `next` if there is nothing at the path. An Express router does both. */
  readonly handler: RequestHandler;
  /**
   * The names of the changes that the route makes, by the end of the path below `path`, such as
   * `{ '/': 'override set', '/end': 'override ended' }`. They are known even if a request is refused before the handler.
   */
  readonly actions?: Readonly<Record<string, string>>;
  /** How an operator who uses the route is said to act. Default: `api`. */
  readonly way?: OperatorAction['way'];
  /** The segments of the route's paths that the log shows, besides those of `path` and `actions`. Others are hidden. */
  readonly words?: readonly string[];
}
