import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { applyDrift, replacementResponse, resetConnection, writeWithChaos } from './chaos/change-response.ts';
import { type ChaosPlan, createChaosPlan, waitForSlowRules } from './chaos/chaos-plan.ts';
import { parseChaos } from './chaos/parse-chaos.ts';
import { runDueJobs } from './gdpr-jobs.ts';
import { authenticate, type Caller } from './http/caller.ts';
import {
  LegacyRefusal,
  htmlErrorPage,
  type LegacyResponse,
  plainError,
  refuse,
  serializeResponse,
  writeResponse,
} from './http/legacy-response.ts';
import type { LegacyRequest, LegacyRoute, ReferenceContext } from './http/route.ts';
import { withIncompleteItems } from './lists/incomplete-items.ts';
import { ROUTES } from './routes.ts';
import { openStore } from './seed/open-store.ts';
import type { Sql } from './store/sql.ts';
import { createTrackerApp } from './tracker/tracker-app.ts';
import { trimEndOf } from '../lib/trim-end.ts';

/** The options for the reference server. Every option has a default. */
export interface ReferenceServerOptions {
  /** The address to listen on. Defaults to 127.0.0.1. */
  readonly host?: string;
  /** The port to listen on. Defaults to 0, which selects any free port. */
  readonly port?: number;
  /** The path prefix of all routes, for example `/qa`. Defaults to no prefix. */
  readonly basePath?: string;
  /** The path of the database file, or `:memory:`. Defaults to `:memory:`. */
  readonly db?: string;
  /**
   * The seed. Defaults to 1. It determines the seeded content, the incomplete items, and the requests that the chaos
   * rules affect. It does not change the content of an existing database file.
   */
  readonly seed?: number;
  /**
   * True if every list item has all fields that the contract expects. By default, a few items lack a field, as on a
   * real server.
   */
  readonly complete?: boolean;
  /** True if user names are compared without case and surrounding white space, as on some real servers. */
  readonly ignoreCase?: boolean;
  /** Chaos rules, in the syntax described by CHAOS_GRAMMAR. */
  readonly chaos?: readonly string[];
  /** The base URL of an issue tracker. By default, an embedded tracker is started. */
  readonly issueTrackerUrl?: string;
  /** Returns the current time in epoch milliseconds. Defaults to `Date.now`. */
  readonly clock?: () => number;
}

/** A running reference server. */
export interface ReferenceServer {
  /** The server's absolute URL, including the base path and without a trailing slash. */
  readonly url: string;
  /** The issue tracker's absolute URL, without a trailing slash. */
  readonly trackerUrl: string;
  /** Closes all connections and the store. Can be called more than once. */
  readonly close: () => Promise<void>;
  /** Replaces the chaos rules. If any rule is invalid, throws a ChaosSyntaxError and changes nothing. */
  readonly setChaos: (rules: readonly string[]) => void;
}

function normalBasePath(basePath: string): string {
  const path = trimEndOf(basePath, '/');
  if (!/^(\/[A-Za-z0-9._~-]+)*$/.test(path)) {
    throw new Error(`the base path ${JSON.stringify(basePath)} must be empty or a path such as /qa`);
  }
  return path;
}

async function startTracker(clock: () => number): Promise<Listening> {
  let origin = '';
  const tracker = await listen(
    createTrackerApp(() => origin, clock),
    '127.0.0.1',
    0,
  );
  origin = tracker.origin;
  return tracker;
}

/** Starts a stand-in for the legacy Q&A server. Rejects if an option is invalid or the address is in use. */
export async function startReferenceServer(options: ReferenceServerOptions = {}): Promise<ReferenceServer> {
  const { host = '127.0.0.1', port = 0, db = ':memory:', seed = 1, clock = Date.now } = options;
  const basePath = normalBasePath(options.basePath ?? '');
  let chaosPlan = createChaosPlan(parseChaos(options.chaos ?? []), seed);
  const closing = new AbortController();
  const opened: { sql?: Sql; tracker?: Listening; server?: Listening } = {};
  const closeAll = async (): Promise<void> => {
    closing.abort();
    await Promise.all([opened.server?.close(), opened.tracker?.close()]);
    opened.sql?.close();
  };
  try {
    const sql = (opened.sql = openStore(db, seed));
    if (options.issueTrackerUrl === undefined) opened.tracker = await startTracker(clock);
    const trackerUrl = trimEndOf(options.issueTrackerUrl ?? opened.tracker?.origin ?? '', '/');
    let url = '';
    const context: ReferenceContext = {
      sql,
      clock,
      trackerUrl,
      ignoreCase: options.ignoreCase === true,
      get url() {
        return url;
      },
    };
    const app = createReferenceApp(context, {
      basePath,
      incomplete: options.complete === true ? (response) => response : withIncompleteItems(seed),
      chaosPlan: () => chaosPlan,
      closing: closing.signal,
    });
    opened.server = await listen(app, host, port);
    url = opened.server.origin + basePath;
    let closed: Promise<void> | undefined;
    return {
      url,
      trackerUrl,
      close: () => (closed ??= closeAll()),
      setChaos: (rules) => {
        chaosPlan = createChaosPlan(parseChaos(rules), seed);
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

// Tomcat's default keep-alive timeout. It is shorter than the idle timeouts of most load balancers, so a gateway must
// be able to handle sockets that the server closes early.
const KEEP_ALIVE_MS = 20_000;

/** A listening HTTP server. */
interface Listening {
  /** The scheme, host and port (`http://host:port`), without a trailing slash. */
  readonly origin: string;
  /** Stops listening and closes all connections immediately. */
  readonly close: () => Promise<void>;
}

async function listen(listener: RequestListener, host: string, port: number): Promise<Listening> {
  const server = createServer(listener);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, port: actualPort, family } = server.address() as AddressInfo;
  return {
    origin: `http://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const BODY_LIMIT = '20mb';

/** The app's options, in addition to its context. */
interface ReferenceAppOptions {
  /** The path prefix, or an empty string if there is none. */
  readonly basePath: string;
  /** Removes expected fields from some items in a response. */
  readonly incomplete: (response: LegacyResponse, operation: number | undefined) => LegacyResponse;
  readonly chaosPlan: () => ChaosPlan;
  /** Aborted when the server closes, to end all delays. */
  readonly closing: AbortSignal;
}

function parseBody(bytes: unknown): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.byteLength === 0) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return refuse(plainError(400, 'The request body is not valid JSON.'));
  }
}

/**
 * Converts an Express request with a raw body to a LegacyRequest. The body is not parsed until an operation reads it.
 */
function readRequest(request: Request, caller: Caller): LegacyRequest {
  const mark = request.url.indexOf('?');
  return {
    caller,
    query: new URLSearchParams(mark < 0 ? '' : request.url.slice(mark + 1)),
    get body() {
      return parseBody(request.body as unknown);
    },
    param: (name) => {
      const value = request.params[name];
      return typeof value === 'string' ? value : '';
    },
  };
}

async function runRoute(route: LegacyRoute, request: Request, context: ReferenceContext): Promise<LegacyResponse> {
  try {
    runDueJobs(context.sql, context.clock());
    const caller = authenticate(context.sql, request.headers, context.ignoreCase);
    return await route.respond(readRequest(request, caller), context);
  } catch (error) {
    if (error instanceof LegacyRefusal) return error.response;
    return htmlErrorPage(500, 'The server encountered an internal error');
  }
}

function allowedMethods(path: string): string {
  const methods = ROUTES.filter((route) => route.path === path).map(({ method }) => method);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
}

/**
 * Assembles the reference server's Express app: the routes, HTML error pages for all other requests (choice
 * `html-errors`), and the chaos rules. Routes ignore parameters that they do not read (choice `unknown-parameters`).
 */
function createReferenceApp(context: ReferenceContext, options: ReferenceAppOptions): Express {
  const respond = async (
    request: Request,
    response: Response,
    operation: number | undefined,
    run: () => LegacyResponse | Promise<LegacyResponse>,
  ): Promise<void> => {
    const rules = options.chaosPlan().draw(operation, request.url);
    if (rules.length > 0) {
      const clientGone = new AbortController();
      response.once('close', () => clientGone.abort());
      if (!(await waitForSlowRules(rules, AbortSignal.any([clientGone.signal, options.closing])))) return;
    }
    if (rules.some(({ name }) => name === 'reset')) {
      resetConnection(response);
      return;
    }
    const legacy = replacementResponse(rules) ?? applyDrift(options.incomplete(await run(), operation), rules);
    if (!response.destroyed) writeWithChaos(response, serializeResponse(legacy), rules);
  };

  const router = express.Router({ caseSensitive: true, strict: true });
  for (const route of ROUTES) {
    const method = route.method.toLowerCase() as 'get' | 'post' | 'put';
    router[method](route.path, (request, response) =>
      respond(request, response, route.operation, () => runRoute(route, request, context)),
    );
  }
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    const page = htmlErrorPage(405, 'Request method not supported', { Allow: allowedMethods(path) });
    router.all(path, (request, response) => respond(request, response, undefined, () => page));
  }
  router.use((request, response) => respond(request, response, undefined, () => htmlErrorPage(404, 'No such page')));

  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(express.raw({ type: () => true, limit: BODY_LIMIT }));
  app.use(options.basePath === '' ? '/' : options.basePath, router);
  app.use((_request, response) => writeResponse(response, serializeResponse(htmlErrorPage(404, 'No such page'))));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const status = error instanceof Error && 'status' in error && error.status === 413 ? 413 : 400;
    if (!response.headersSent)
      writeResponse(response, serializeResponse(htmlErrorPage(status, 'The request cannot be read')));
  });
  return app;
}
