import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFaultPlan } from './faults/fault-plan.ts';
import { parseFaults } from './faults/parse-faults.ts';
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
  /** What the seeded content and the faults follow from; default 1. A file that holds a community keeps it. */
  readonly seed?: number;
  /** Misbehaviours, each in the grammar of FAULT_GRAMMAR. */
  readonly faults?: readonly string[];
  /** The base address of an issue tracker; without it an embedded one is started beside the server. */
  readonly issueTrackerUrl?: string;
  /** The time now, epoch ms; default Date.now. */
  readonly clock?: () => number;
}

/** A reference server that runs. */
export interface ReferenceServer {
  /** Its absolute address with the base path, no slash at the end. */
  readonly url: string;
  /** The issue tracker's absolute address, no slash at the end. */
  readonly trackerUrl: string;
  /** Ends every connection and the store; more than one call is fine. */
  readonly close: () => Promise<void>;
  /** Replaces the faults; throws a FaultSyntaxError and changes nothing when one cannot be read. */
  readonly setFaults: (faults: readonly string[]) => void;
}

function normalBasePath(basePath: string): string {
  const path = basePath.replace(/\/+$/, '');
  if (!/^(\/[A-Za-z0-9._~-]+)*$/.test(path)) {
    throw new Error(`the base path ${JSON.stringify(basePath)} must be empty or like /qa`);
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

/** Starts a faithful stand-in for the legacy Q&A server; rejects when an option is wrong or the address is taken. */
export async function startReferenceServer(options: ReferenceServerOptions = {}): Promise<ReferenceServer> {
  const { host = '127.0.0.1', port = 0, db = ':memory:', seed = 1, clock = Date.now } = options;
  const basePath = normalBasePath(options.basePath ?? '');
  let faultPlan = createFaultPlan(parseFaults(options.faults ?? []), seed);
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
    const app = createReferenceApp(context, { basePath, faultPlan: () => faultPlan, closing: closing.signal });
    opened.server = await listen(app, host, port);
    url = opened.server.origin + basePath;
    let closed: Promise<void> | undefined;
    return {
      url,
      trackerUrl,
      close: () => (closed ??= closeAll()),
      setFaults: (faults) => {
        faultPlan = createFaultPlan(parseFaults(faults), seed);
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

// Tomcat's default, shorter than most balancers': a gateway has to cope with sockets that close under it.
const KEEP_ALIVE_MS = 20_000;

/** A server that listens. */
export interface Listening {
  /** `http://host:port`, no slash at the end. */
  readonly origin: string;
  /** Ends every connection at once and stops listening. */
  readonly close: () => Promise<void>;
}

/** Starts an HTTP server; rejects when the address cannot be had. */
export async function listen(listener: RequestListener, host: string, port: number): Promise<Listening> {
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
