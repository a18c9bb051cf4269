import { finished, type Readable } from 'node:stream';
import type { Clock } from '../lib/clock.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { UpstreamAnswer } from '../model/upstream-answer.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../model/upstream-failure.ts';
import { bufferedAnswer, transparentAnswer } from './answer-body.ts';
import { createConnections } from './connections.ts';
import { endToEnd } from './hop-by-hop.ts';
import type { UpstreamAddress } from './parse-upstream-url.ts';
import { sendRequest, type SentAnswer } from './send-request.ts';
import { toTransportFailure } from './transport-failure.ts';
import { createUpstreamGate, type GatePass, type UpstreamGate } from './upstream-gate.ts';
import type { UpstreamOptions } from './upstream-options.ts';
import { upstreamPath } from './upstream-path.ts';

/** One request towards the upstream. */
export interface UpstreamRequest {
  readonly method: string;
  /** Path and query under the base address, raw; the base path is put in front of it here. */
  readonly target: string;
  /** Hop-by-hop fields, `Host` and `Expect` are left out; the length is counted again. */
  readonly headers: HeaderPairs;
  readonly body?: Buffer | Readable;
  readonly signal?: AbortSignal;
  /**
   * `buffered`: the whole body without its content coding, or a failure.
   * `transparent`: the bytes as they come; too large or broken bodies as a stream that ends or breaks as they do.
   */
  readonly mode: 'buffered' | 'transparent';
}

/** An answer and how often the request was sent. */
export interface ExchangedAnswer extends UpstreamAnswer {
  readonly attempts: number;
}

/** Numbers for metrics. */
export interface UpstreamStats extends ReturnType<UpstreamGate['stats']> {
  readonly openConnections: number;
}

/** The legacy server, as plans exchange with it. */
export interface Upstream {
  /** Throws `UpstreamFailure`, and `GatewayError` for a target that cannot be written. */
  exchange(request: UpstreamRequest): Promise<ExchangedAnswer>;
  /** The bound and circuit that passthrough has to share. */
  readonly gate: UpstreamGate;
  stats(): UpstreamStats;
  /** Lets exchanges in flight end for at most `graceMs`, then breaks them. */
  close(graceMs?: number): Promise<void>;
}

/** Makes the upstream; nothing is connected before the first exchange. */
export function createUpstream(address: UpstreamAddress, options: UpstreamOptions, clock: Clock): Upstream {
  const gate = createUpstreamGate(options, clock);
  const connections = createConnections(address.origin, options);

  const send = async (request: UpstreamRequest, path: string, signal: AbortSignal) => {
    const bounds = { signal, readerTimeoutMs: options.clientTimeoutMs };
    const wire = {
      method: request.method,
      path,
      headers: toWireHeaders(request.headers, request.body).flat(),
      body: request.body ?? null,
    };
    const isSafe = (request.method === 'GET' || request.method === 'HEAD') && request.body === undefined;
    if (isSafe) {
      const progress = { answered: false };
      try {
        return { sent: await sendRequest(connections.kept, wire, bounds, progress), attempts: 1 };
      } catch (error) {
        if (progress.answered || !isDead(error) || !connections.wasReused(wire)) throw error;
      }
    }
    // `reset` closes the connection after this one request.
    const once = { ...wire, reset: true };
    const sent = await sendRequest(connections.fresh(), once, bounds, { answered: false });
    return { sent, attempts: isSafe ? 2 : 1 };
  };

  const attempt = async (request: UpstreamRequest, path: string, pass: GatePass): Promise<ExchangedAnswer> => {
    const stop = new AbortController();
    const abort = () => stop.abort(new UpstreamFailure('aborted', { cause: request.signal?.reason }));
    const timer = setTimeout(() => stop.abort(new UpstreamFailure('deadline')), options.totalTimeoutMs);
    if (request.signal?.aborted) abort();
    request.signal?.addEventListener('abort', abort, { once: true });
    const done = (failure?: UpstreamFailureKind) => {
      request.signal?.removeEventListener('abort', abort);
      pass.leave(failure);
    };
    try {
      const { sent, attempts } = await send(request, path, stop.signal);
      // A body that is passed on as it comes may take as long as it keeps coming; silence is bounded elsewhere.
      if (request.mode === 'transparent') clearTimeout(timer);
      const answer = await answerOf(request, sent, options.maxResponseBytes);
      if (Buffer.isBuffer(answer.body)) done();
      else finished(answer.body, { writable: false }, (error) => done(error ? kindOf(error) : undefined));
      return { ...answer, attempts };
    } catch (error) {
      done(error instanceof UpstreamFailure ? error.kind : 'aborted');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    gate,
    async exchange(request) {
      const path = upstreamPath(address.basePath, request.target);
      return attempt(request, path, await gate.enter(request.signal));
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

// A kept connection may also die before the request is written to it, which looks like one that never stood.
const isDead = (error: unknown) =>
  error instanceof UpstreamFailure && (error.kind === 'reset' || error.kind === 'refused');

const kindOf = (error: unknown) => toTransportFailure(error, 'body').kind;

function answerOf(request: UpstreamRequest, sent: SentAnswer, limit: number): Promise<UpstreamAnswer> {
  return request.mode === 'buffered' ? bufferedAnswer(request.method, sent, limit) : transparentAnswer(sent, limit);
}

// Only a streamed body keeps the length its sender declared: it is checked while it is sent.
function toWireHeaders(headers: HeaderPairs, body: Buffer | Readable | undefined): HeaderPairs {
  const keepsLength = body !== undefined && !Buffer.isBuffer(body);
  return endToEnd(headers).filter(([name]) => {
    const key = name.toLowerCase();
    return key !== 'host' && key !== 'expect' && (key !== 'content-length' || keepsLength);
  });
}
