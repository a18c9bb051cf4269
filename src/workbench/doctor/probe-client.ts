import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as TlsAgent, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { headerPairs, type HeaderPairs } from '../../engine/model/header-pairs.ts';
import { pauseFor } from '../../lib/pause.ts';
import type { FailureFacts } from '../../engine/model/failure-cause.ts';
import { UpstreamFailure } from '../../engine/model/upstream-failure.ts';
import { failureHint } from '../../engine/model/failure-hints.ts';
import { type ExchangePhase, toTransportFailure } from '../../engine/upstream/failures/transport-failure.ts';

/** A probe request. It cannot have a body or a method other than GET and HEAD. */
interface ProbeRequest {
  readonly method?: 'GET' | 'HEAD';
  /** The path and query that follow the base path. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The credential to send: the operator's own (default), none, or another value of `Authorization`. */
  readonly credential?: 'own' | 'none' | { readonly authorization: string };
  /** The agent that provides the connection. By default, each request is sent on a new connection. */
  readonly agent?: Agent;
}

/** A response, exactly as received. */
export interface ProbeResponse {
  readonly kind: 'response';
  readonly status: number;
  /** The HTTP version of the response: `1.0` or `1.1`. */
  readonly httpVersion: string;
  /** All headers, including hop-by-hop headers and duplicates. */
  readonly headers: HeaderPairs;
  /** The body as received, without decoding. At most 8 MiB. */
  readonly body: Buffer;
  /** When the request was sent and when the response head arrived, in epoch milliseconds. */
  readonly sentAt: number;
  readonly headAt: number;
  /** The time from the request to the end of the body, in milliseconds. */
  readonly ms: number;
  /** True if the connection had already been used for another request. */
  readonly reused: boolean;
  readonly socket: Socket;
}

/** A request that received no complete response. */
interface ProbeFailure {
  readonly kind: 'failure';
  readonly facts: FailureFacts;
  readonly ms: number;
}

/** Sends probe requests to one server, within limits. */
export interface ProbeClient {
  readonly origin: string;
  readonly basePath: string;
  readonly hasCredential: boolean;
  send(request: ProbeRequest): Promise<ProbeResponse | ProbeFailure>;
  /**
   * Returns an agent that keeps up to `maxSockets` connections open between requests. The caller must destroy the
   * agent.
   */
  keepAlive(maxSockets: number): Agent;
  /** Returns a client for a different origin or base path. Both clients share the limit on requests. */
  at(origin: string, basePath: string): ProbeClient;
  sent(): number;
  /** Returns the reason for each failed request, that is, each request without a complete response. */
  failures(): readonly string[];
}

/** The limits and credentials of a probe client. */
export interface ProbeClientOptions {
  readonly authorization: string | undefined;
  /** The maximum number of requests. */
  readonly maxRequests: number;
  /** The pause before each request, in milliseconds. It does not apply to the concurrency test. */
  readonly delayMs: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Additional certificate authorities, in PEM format. */
  readonly ca?: string | undefined;
}

/** Thrown to end the doctor run when all allowed requests have been sent or the operator interrupts the run. */
export class ProbingEnded extends Error {
  override readonly name = 'ProbingEnded';
}

/** Thrown by a probe that cannot answer its question. The message explains why. */
export class CannotProbe extends Error {
  override readonly name = 'CannotProbe';
}

/** Sends a request. Throws `CannotProbe` with the usual explanation if the server does not respond. */
export async function respond(client: ProbeClient, request: ProbeRequest): Promise<ProbeResponse> {
  const result = await client.send(request);
  if (result.kind === 'failure') throw new CannotProbe(failureHint(result.facts));
  return result;
}

const MAX_BODY_BYTES = 8 * 1024 * 1024;
/**
 * The maximum size of a response head, in bytes. It exceeds Portico's own limit, so that the doctor can report heads
 * that Portico would refuse.
 */
const MAX_HEAD_BYTES = 64 * 1024;

/** Creates a client. No connection is opened before the first request. */
export function createProbeClient(
  address: { readonly origin: string; readonly basePath: string },
  options: ProbeClientOptions,
): ProbeClient {
  let count = 0;
  const failures: string[] = [];
  const create = (origin: string, basePath: string): ProbeClient => ({
    origin,
    basePath,
    hasCredential: options.authorization !== undefined,
    async send(request) {
      if (request.agent === undefined && count > 0) await pauseFor(options.delayMs, options.signal);
      if (options.signal.aborted) throw new ProbingEnded('interrupted');
      if (count >= options.maxRequests) throw new ProbingEnded(`all ${options.maxRequests} requests have been made`);
      count += 1;
      const result = await exchange(new URL(origin), basePath + request.path, request, options);
      if (result.kind === 'failure') failures.push(result.facts.code ?? result.facts.cause);
      return result;
    },
    keepAlive(maxSockets) {
      const agent = origin.startsWith('https:')
        ? new TlsAgent({ keepAlive: true, maxSockets, ca: options.ca })
        : new Agent({ keepAlive: true, maxSockets });
      // By default, Node closes an idle connection before the time in the Keep-Alive header has elapsed, so the
      // server's own timeout would not be observed.
      agent.keepSocketAlive = () => true;
      return agent;
    },
    at: create,
    sent: () => count,
    failures: () => failures,
  });
  return create(address.origin, address.basePath);
}

async function exchange(
  { protocol, hostname, port }: URL,
  path: string,
  { method = 'GET', headers = {}, credential = 'own', agent }: ProbeRequest,
  { authorization, timeoutMs, signal, ca }: ProbeClientOptions,
): Promise<ProbeResponse | ProbeFailure> {
  // The types allow only these methods, but a probe must never change anything, even if a caller circumvents the types.
  if (method !== 'GET' && method !== 'HEAD') throw new TypeError('a probe may only read');
  const own = credential === 'own' ? authorization : credential === 'none' ? undefined : credential.authorization;
  const isSecure = protocol === 'https:';
  const sentAt = Date.now();
  const startedAt = performance.now();
  const outgoing = (isSecure ? requestHttps : requestHttp)({
    method,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? undefined : port,
    path,
    agent: agent ?? false,
    ca,
    maxHeaderSize: MAX_HEAD_BYTES,
    headers: {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'User-Agent': 'portico-doctor',
      ...(own !== undefined && { Authorization: own }),
      ...headers,
    },
  });
  const progress: { phase: ExchangePhase } = { phase: 'connecting' };
  const connected = () => (progress.phase = 'waiting');
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) connected();
    socket.once(isSecure ? 'secureConnect' : 'connect', connected);
  });
  // The code that reads the body detects only that the connection was lost, so the reason is stored here.
  let stopped: UpstreamFailure | undefined;
  const stop = (kind: 'deadline' | 'aborted') => outgoing.destroy((stopped = new UpstreamFailure(kind)));
  const timer = setTimeout(stop, timeoutMs, 'deadline');
  const abort = () => stop('aborted');
  signal.addEventListener('abort', abort, { once: true });
  try {
    const response = await headOf(outgoing);
    progress.phase = 'body';
    const headAt = Date.now();
    const { socket, httpVersion, statusCode: status = 0 } = response;
    const body = await readAll(response);
    const ms = performance.now() - startedAt;
    const { reusedSocket: reused } = outgoing;
    return {
      kind: 'response',
      status,
      httpVersion,
      headers: headerPairs(response.rawHeaders),
      body,
      sentAt,
      headAt,
      ms,
      reused,
      socket,
    };
  } catch (error) {
    const { facts } = toTransportFailure(stopped ?? error, progress.phase);
    if (facts === undefined) throw new ProbingEnded('interrupted');
    return { kind: 'failure', facts, ms: performance.now() - startedAt };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Sends a request and waits for the response head. */
function headOf(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    // The listener is not removed, because an error can also occur after the response has started.
    outgoing.on('error', reject);
    outgoing.end();
  });
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response) {
    parts.push(part as Buffer);
    length += (part as Buffer).length;
    if (length > MAX_BODY_BYTES) throw new UpstreamFailure('too_large');
  }
  return Buffer.concat(parts, length);
}
