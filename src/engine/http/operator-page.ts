import type { RequestHandler, Router } from 'express';
import type { AdminRoute } from './admin-route.ts';

/** A page for operators. A feature that shows pages, if there is one, lists it in its menu. */
export interface OperatorPage extends Pick<AdminRoute, 'actions' | 'words'> {
  /**
   * The name in the page's address, in the paths of its data, and of its module. Small letters only, such as `levels` for
   * `NAME.js`, which exports the component `Page`.
   */
  readonly name: string;
  readonly title: string;
  /** Where the page stands in the menu: pages with lower numbers come first. */
  readonly position: number;
  /** The folder with the page's files for browsers. All of them are served, so nothing else may be in it. */
  readonly folder: string;
  /** True if the page shows one operation when its address contains `operation`. Others then link to it. */
  readonly showsOperation?: boolean;
  /** Returns a few words for the header while something unusual is in effect, such as `2 overrides`. */
  readonly notice?: () => string | undefined;
  /**
   * Returns the router of the page's data, if it has its own. Called once, for the first request, so its modules can be
   * imported then. `guard` must come before each change. `failed` logs an error that the response does not describe.
   */
  readonly data?: (guard: RequestHandler, failed: PageFailed) => Promise<Router> | Router;
}

/** Logs an error in the handling of an operator's request. */
export type PageFailed = (error: unknown, request: Parameters<RequestHandler>[0]) => void;
