import type { IncomingMessage, ServerResponse } from 'node:http';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { compileLegacyAddresses } from './legacy-addresses.ts';
import type { UpstreamAddress } from './parse-upstream-url.ts';
import { passedFields } from './passed-fields.ts';
import { createPassedRequest, hasBody, hasShortBody, readShortBody } from './passed-request.ts';
import type { PassthroughContext, PassthroughResult } from './passthrough-context.ts';
import { passthroughHeaders } from './passthrough-headers.ts';
import { createProxies, type ProxyAttempt } from './proxies.ts';
import { AttemptFailure, createAttempt } from './proxy-attempt.ts';
import type { GatePass, UpstreamGate } from './upstream-gate.ts';
import type { UpstreamOptions } from './upstream-options.ts';
import { upstreamPath } from './upstream-path.ts';

/** Passes requests for undocumented paths, streaming in both directions. */
export interface Passthrough {
  /** Throws `UpstreamFailure` (or `GatewayError` for an unsafe target) while nothing is written to the client yet. */
  pass(request: IncomingMessage, response: ServerResponse, context: PassthroughContext): Promise<PassthroughResult>;
  openConnections(): number;
  close(): void;
}

/** Makes the passthrough; `gate` is the one that plans use too. */
export function createPassthrough(
  address: UpstreamAddress,
  options: UpstreamOptions,
  more: { readonly gate: UpstreamGate; readonly rewriteUrls: boolean },
): Passthrough {
  const legacy = compileLegacyAddresses(address, options.legacyOrigins);
  const proxies = createProxies(address.origin, options.idleTimeoutMs);
  const host = new URL(address.origin).host;

  const send = async (
    request: IncomingMessage,
    response: ServerResponse,
    context: PassthroughContext,
    { read, onHead }: { readonly read: Buffer | undefined; readonly onHead: () => void },
  ): Promise<PassthroughResult> => {
    const path = upstreamPath(address.basePath, context.arrival.target);
    const rewrites = more.rewriteUrls && !context.transparent;
    const headers = passthroughHeaders(context.arrival, {
      transparent: context.transparent,
      authorization: context.authorization,
      identityCoding: rewrites,
    });
    const fields = passedFields(request, headers, host);
    const run = (proxy: (attempt: ProxyAttempt) => void) => {
      const passed = createPassedRequest(request, fields, read);
      return createAttempt(proxy, { passed, response, context, path, options, legacy, rewrites, onHead });
    };
    const isSafe = (request.method === 'GET' || request.method === 'HEAD') && !hasBody(request);
    if (!isSafe) return run(proxies.fresh);
    try {
      return await run(proxies.kept);
    } catch (error) {
      if (error instanceof AttemptFailure && error.isStaleSocket) return run(proxies.fresh);
      throw error;
    }
  };

  return {
    async pass(request, response, context) {
      if (response.destroyed) throw new UpstreamFailure('aborted');
      const { owner } = context;
      const isShort = hasShortBody(request);
      // Before anything is sent: a response is never refused for want of a stream, because a write was carried out by then.
      if (isShort) more.gate.checkStreams(owner);
      const read = isShort && hasBody(request) ? await readShortBody(request, options.clientTimeoutMs) : undefined;
      if (response.destroyed) throw new UpstreamFailure('aborted');
      const pass = isShort ? await enter(more.gate, response) : more.gate.enterStream(owner);
      let failure: UpstreamFailure | undefined;
      try {
        // Others may have opened streams while this request waited for its place.
        if (isShort) more.gate.checkStreams(owner);
        const result = await send(request, response, context, { read, onHead: () => pass.stream(owner) });
        failure = result.failure;
        return result;
      } catch (error) {
        const cause = error instanceof AttemptFailure ? error.failure : error;
        failure = cause instanceof UpstreamFailure ? cause : new UpstreamFailure('aborted');
        throw cause;
      } finally {
        pass.leave(failure?.kind);
      }
    },
    openConnections: () => proxies.openConnections(),
    close: () => proxies.close(),
  };
}

/** Enters the gate; a client that leaves meanwhile leaves the queue too. */
function enter(gate: UpstreamGate, response: ServerResponse): GatePass | Promise<GatePass> {
  let leave: (() => void) | undefined;
  const entering = gate.enter(() => {
    const left = new AbortController();
    leave = () => left.abort();
    response.once('close', leave);
    return left.signal;
  });
  if (!(entering instanceof Promise)) return entering;
  return entering.finally(() => leave && response.off('close', leave));
}
