import { finished, type Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../lib/clock.ts';
import type { Cancellation } from '../lib/ending.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { UpstreamResponse } from '../model/upstream-response.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../model/upstream-failure.ts';
import { decodeResponse, transparentResponse } from './response-body.ts';
import type { StreamOwner } from './client-streams.ts';
import { createConnections } from './connections.ts';
import { type UpstreamAddress, upstreamPath } from './upstream-url.ts';
import { createProxy } from './proxy/create-proxy.ts';
import { sendProxied } from './proxy/send-proxied.ts';
import { isShort, readShort, type Upload } from './proxy/upload.ts';
import { sendBuffered } from './send-buffered.ts';
import { sendRequest } from './send-request.ts';
import { createStop, type SendProgress, type Stop, type WireRequest } from './sending.ts';
import { toTransportFailure } from './transport-failure.ts';
import { createUpstreamGate, type GatePass, type UpstreamGate } from './upstream-gate.ts';
import type { UpstreamOptions } from './upstream-options.ts';
import { wireHeaders } from './request-headers.ts';

/** One request towards the upstream. */
export interface UpstreamRequest {
  readonly method: string;
  /** Path and query under the base address, raw; the base path is put in front of it here. */
  readonly target: string;
  /** Hop-by-hop fields, `Host` and `Expect` are left out; the length is counted again. */
  readonly headers: HeaderPairs;
  readonly body?: Buffer | Readable;
  /** A client's body, for the mode `streamed`; the proxy library sends it. */
  readonly upload?: Upload | undefined;
  readonly signal?: Cancellation;
  /** Whom a body counts for that is streamed up or down; needed where one may be. */
  readonly owner?: StreamOwner;
  /**
   * `buffered`: the whole body without its content coding, or a failure.
   * `transparent`: the bytes as they come; too large or broken bodies as a stream that ends or breaks as they do.
   * `streamed`: the bytes as they come, always as a stream; it is one of its client's streams from the head on.
   */
  readonly mode: 'buffered' | 'transparent' | 'streamed';
}

/** An answer and how often the request was sent. */
export interface ExchangedResponse extends UpstreamResponse {
  readonly attempts: number;
}

/** Numbers for metrics. */
export interface UpstreamStats extends ReturnType<UpstreamGate['stats']> {
  readonly openConnections: number;
}

/** The legacy server, as plans exchange with it. */
export interface Upstream {
  /** Throws `UpstreamFailure`, and `GatewayError` for a target that cannot be written. */
  exchange(request: UpstreamRequest): Promise<ExchangedResponse>;
  stats(): UpstreamStats;
  /** Lets exchanges in flight end for at most `graceMs`, then breaks them. */
  close(graceMs?: number): Promise<void>;
}

/** Makes the upstream; nothing is connected before the first exchange. */
export function createUpstream(address: UpstreamAddress, options: UpstreamOptions, clock: Clock): Upstream {
  const gate = createUpstreamGate(options, clock);
  const connections = createConnections(address.origin, options);
  const proxy = createProxy(address.origin);

  /** Sends at most twice: what a kept connection lost before its answer goes again on a fresh one. */
  const send = async <T>(request: UpstreamRequest, path: string, once: SendOnce<T>) => {
    const wire: WireRequest = {
      method: request.method,
      path,
      headers: wireHeaders(request.headers, request.body),
      body: request.body ?? null,
    };
    const isSafe = (request.method === 'GET' || request.method === 'HEAD') && request.body === undefined;
    if (isSafe) {
      const progress = { answered: false };
      try {
        return { sent: await once(connections.kept, wire, progress), attempts: 1 };
      } catch (error) {
        if (progress.answered || !isDead(error) || wire.reused !== true) throw error;
      }
    }
    // `reset` closes the connection after this one request.
    const sent = await once(connections.fresh(), { ...wire, reset: true }, { answered: false });
    return { sent, attempts: isSafe ? 2 : 1 };
  };

  const buffered = async (request: UpstreamRequest, path: string, stop: Stop): Promise<ExchangedResponse> => {
    const bounds = { stop, limit: options.maxResponseBytes };
    const { sent, attempts } = await send(request, path, (to, wire, progress) =>
      sendBuffered(to, wire, bounds, progress),
    );
    const answer = decodeResponse(request.method, sent, options.maxResponseBytes);
    const { status, headers, body } = answer instanceof Promise ? await answer : answer;
    return { status, headers, body, attempts };
  };

  const transparent = async (
    request: UpstreamRequest,
    path: string,
    stop: Stop,
    onHead: () => void,
  ): Promise<ExchangedResponse> => {
    const bounds = { stop, readerTimeoutMs: options.clientTimeoutMs };
    const { sent, attempts } = await send(request, path, (to, wire, progress) =>
      sendRequest(to, wire, bounds, progress),
    );
    onHead();
    return { ...(await transparentResponse(sent, options.maxResponseBytes)), attempts };
  };

  /** Lets a response go on as one of its client's streams: from here on the client decides how long it takes. */
  const streamOn = (
    { method, owner = NOBODY }: UpstreamRequest,
    body: Readable,
    pass: GatePass,
    done: (failure?: UpstreamFailureKind) => void,
  ) => {
    try {
      // What a write has done stays done, so its response is never refused.
      if (method === 'GET' || method === 'HEAD') gate.checkStreams(owner);
    } catch (error) {
      body.destroy();
      throw error;
    }
    pass.stream(owner);
    leaveAtEnd(body, done);
  };

  const streamed = async (request: UpstreamRequest, path: string, stop: Stop): Promise<ExchangedResponse> => {
    const { method, headers, body, upload } = request;
    if (upload !== undefined) {
      const proxied = { method, path, headers, body: body ?? upload.stream, length: upload.length };
      return { ...(await sendProxied(proxy, proxied, { stop, options })), attempts: 1 };
    }
    const bounds = { stop, readerTimeoutMs: options.clientTimeoutMs };
    const { sent, attempts } = await send(request, path, (to, wire, progress) =>
      sendRequest(to, wire, bounds, progress),
    );
    return { ...sent, attempts };
  };

  const attempt = async (
    request: UpstreamRequest,
    path: string,
    entering: GatePass | Promise<GatePass>,
  ): Promise<ExchangedResponse> => {
    const pass = entering instanceof Promise ? await entering : entering;
    const { signal } = request;
    const stop = createStop();
    const abort = () => stop.stop(new UpstreamFailure('aborted', { cause: signal?.reason }));
    // What is streamed in either direction takes as long as its client wants; the upstream's silence is bounded elsewhere.
    const timer =
      request.mode === 'streamed'
        ? undefined
        : setTimeout(() => stop.stop(new UpstreamFailure('deadline')), options.totalTimeoutMs);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const done = (failure?: UpstreamFailureKind) => {
      signal?.removeEventListener('abort', abort);
      pass.leave(failure);
    };
    try {
      if (request.mode === 'buffered') {
        const answer = await buffered(request, path, stop);
        done();
        return answer;
      }
      if (request.mode === 'streamed') {
        // Others may have opened streams while this request waited for its place.
        if (!isStreamedUp(request)) gate.checkStreams(request.owner ?? NOBODY);
        const answer = await streamed(request, path, stop);
        pass.stream(request.owner ?? NOBODY);
        leaveAtEnd(answer.body, done);
        return answer;
      }
      // A body that is passed on as it comes may take as long as it keeps coming; silence is bounded elsewhere.
      const answer = await transparent(request, path, stop, () => clearTimeout(timer));
      if (Buffer.isBuffer(answer.body)) done();
      else streamOn(request, answer.body, pass, done);
      return answer;
    } catch (error) {
      done(error instanceof UpstreamFailure ? error.kind : 'aborted');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async exchange(request) {
      const path = upstreamPath(address.basePath, request.target);
      const { owner = NOBODY } = request;
      if (isStreamedUp(request)) return attempt(request, path, gate.enterStream(owner));
      if (request.mode !== 'streamed')
        return attempt(
          request,
          path,
          gate.enter(() => request.signal),
        );
      // Before anything is sent: a response is never refused for want of a stream, because a write was carried out by then.
      gate.checkStreams(owner);
      const { upload } = request;
      const body = upload && (await readShort(upload, options.clientTimeoutMs));
      return attempt(
        { ...request, ...(body && { body }) },
        path,
        gate.enter(() => request.signal),
      );
    },
    stats: () => ({ ...gate.stats(), openConnections: connections.open() }),
    async close(graceMs = 10_000) {
      const { promise: grace, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, graceMs);
      await Promise.race([connections.close(), grace]);
      clearTimeout(timer);
      await connections.destroy();
    },
  };
}

// Of requests that are sent for no client, none streams.
const NOBODY: StreamOwner = { caller: undefined, address: '' };

const isStreamedUp = ({ body, upload }: UpstreamRequest) =>
  (body !== undefined && !Buffer.isBuffer(body)) || (upload !== undefined && !isShort(upload));

// A kept connection may also die before the request is written to it, which looks like one that never stood.
const isDead = (error: unknown) =>
  error instanceof UpstreamFailure && (error.kind === 'reset' || error.kind === 'refused');

const kindOf = (error: unknown) => toTransportFailure(error, 'body').kind;

/** Calls back once a body was read, or with how it broke. */
function leaveAtEnd(body: Buffer | Readable, done: (failure?: UpstreamFailureKind) => void): void {
  if (Buffer.isBuffer(body)) done();
  else finished(body, { writable: false }, (error) => done(error ? kindOf(error) : undefined));
}

type SendOnce<T> = (dispatcher: Dispatcher, wire: WireRequest, progress: SendProgress) => Promise<T>;
