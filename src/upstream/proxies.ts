import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';

/** One use of a proxy: what it is given and what it calls back. */
export interface ProxyAttempt {
  readonly passed: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  onRequest(outgoing: ClientRequest): void;
  onAnswer(answer: IncomingMessage): void;
  onError(error: unknown): void;
}

/** The proxy library, once with kept connections and once with a fresh one for every request. */
export interface Proxies {
  readonly kept: (attempt: ProxyAttempt) => void;
  readonly fresh: (attempt: ProxyAttempt) => void;
  openConnections(): number;
  close(): void;
}

/** Makes both proxies for one origin. */
export function createProxies(origin: string, idleTimeoutMs: number): Proxies {
  // The agent's timeout is that of idle sockets: below the upstream's, so that we close them first.
  const settings = { keepAlive: true, timeout: idleTimeoutMs, scheduling: 'lifo' } as const;
  const agent = origin.startsWith('https:') ? new HttpsAgent(settings) : new HttpAgent(settings);
  return {
    kept: createProxy(origin, agent),
    fresh: createProxy(origin, false),
    openConnections: () => count(agent.sockets) + count(agent.freeSockets),
    close: () => agent.destroy(),
  };
}

// A property and not a WeakMap: in an old one, what is as young as a request outlives every collection of the young.
const ATTEMPT = Symbol('attempt');
interface Attempted {
  [ATTEMPT]?: ProxyAttempt;
}

const attemptOf = (passed: object): ProxyAttempt | undefined => (passed as Attempted)[ATTEMPT];

const events: Plugin = (server) => {
  server.on('proxyReq', (outgoing, passed) => attemptOf(passed)?.onRequest(outgoing));
  server.on('proxyRes', (answer, passed) => attemptOf(passed)?.onAnswer(answer));
  // Without a listener for them, all other errors reject what the proxy returns.
  server.on('econnreset', (error, passed) => attemptOf(passed)?.onError(error));
};

function createProxy(origin: string, agent: HttpAgent | HttpsAgent | false): (attempt: ProxyAttempt) => void {
  const proxy = createProxyMiddleware({
    target: origin,
    // `false` means a socket of its own and `Connection: close`; the types know only agents.
    agent: agent as HttpAgent,
    // The default plugins write error bodies that name the host, and log to the console.
    ejectPlugins: true,
    plugins: [events],
    selfHandleResponse: true,
    xfwd: false,
    changeOrigin: false,
    followRedirects: false,
    ws: false,
    // The library reads paths as URLs to filter them; it is given a constant one, and ours goes out as it is.
    pathRewrite: (_path, passed) => attemptOf(passed)?.path,
  });
  return (attempt) => {
    (attempt.passed as Attempted)[ATTEMPT] = attempt;
    const refused = (error?: unknown) => attempt.onError(error ?? new Error('the request was not proxied'));
    proxy(attempt.passed, attempt.response, refused).catch(refused);
  };
}

function count(sockets: Readonly<Record<string, readonly unknown[] | undefined>>): number {
  return Object.values(sockets).reduce((sum, list) => sum + (list?.length ?? 0), 0);
}
