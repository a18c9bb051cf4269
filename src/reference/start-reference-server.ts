import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createChaosPlan } from './chaos/chaos-plan.ts';
import { parseChaos } from './chaos/parse-chaos.ts';
import { createReferenceApp } from './reference-app.ts';
import type { ReferenceContext } from './reference-context.ts';
import { openStore } from './seed/open-store.ts';
import type { Sql } from './store/sql.ts';
import { createTrackerApp } from './tracker/tracker-app.ts';

/** How the reference server is started; every option has a default. */
export interface ReferenceServerOptions {
  /** The address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** The path prefix of every address, for example `/qa`; default none. */
  readonly basePath?: string;
  /** A file path, or `:memory:`, which is the default. */
  readonly db?: string;
  /** Determines the seeded content and the chaos; default 1. A database file that already has content keeps it. */
  readonly seed?: number;
  /** Chaos rules, each in the grammar of CHAOS_GRAMMAR. */
  readonly chaos?: readonly string[];
  /** The base URL of an issue tracker; an embedded tracker is started by default. */
  readonly issueTrackerUrl?: string;
  /** The time now, epoch ms; default Date.now. */
  readonly clock?: () => number;
}

/** A running reference server. */
export interface ReferenceServer {
  /** Its absolute URL with the base path, without a trailing slash. */
  readonly url: string;
  /** The issue tracker's absolute URL, without a trailing slash. */
  readonly trackerUrl: string;
  /** Closes all connections and the store. It may be called more than once. */
  readonly close: () => Promise<void>;
  /** Replaces the chaos rules; throws a ChaosSyntaxError and changes nothing if one is invalid. */
  readonly setChaos: (rules: readonly string[]) => void;
}

function normalBasePath(basePath: string): string {
  const path = basePath.replace(/\/+$/, '');
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

/** Starts a stand-in for the legacy Q&A server; rejects if an option is invalid or the address is in use. */
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
    const trackerUrl = options.issueTrackerUrl?.replace(/\/+$/, '') ?? opened.tracker?.origin ?? '';
    let url = '';
    const context: ReferenceContext = {
      sql,
      clock,
      trackerUrl,
      get url() {
        return url;
      },
    };
    const app = createReferenceApp(context, { basePath, chaosPlan: () => chaosPlan, closing: closing.signal });
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

// Tomcat's default. It is shorter than that of most load balancers, so a gateway must handle sockets that close early.
const KEEP_ALIVE_MS = 20_000;

/** A listening HTTP server. */
interface Listening {
  /** `http://host:port`, without a trailing slash. */
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
