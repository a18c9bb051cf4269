import type { Readable } from 'node:stream';
import type { Settings } from '../config/settings.ts';
import { IN_MEMORY } from '../files/replace-file.ts';
import type { Clock } from '../lib/clock.ts';
import type { Arrival } from '../model/arrival.ts';
import { MODES } from '../model/checks.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { Operation } from '../model/operation.ts';
import type { Trace } from '../model/trace.ts';
import { dispatch, type Dispatched } from '../pipeline/dispatch.ts';
import type { CompiledGateway } from '../pipeline/compiled-gateway.ts';
import { decodeForInspection } from '../upstream/response-body.ts';

/** The part of the gateway that a walk uses. It has no listener and processes one request at a time. */
export interface WalkedGateway {
  readonly operations: readonly Operation[];
  readonly clock: Clock;
  /** Processes a request and returns its reply; throws a GatewayError if there is none. */
  dispatch(arrival: Arrival, trace: Trace, signal: AbortSignal): Promise<Dispatched>;
  /** Reads and decodes a body. Returns undefined if it is too large or cannot be decoded; throws if it is cut off. */
  read(headers: HeaderPairs, body: Buffer | Readable): Promise<Buffer | undefined>;
}

/** The maximum number of bytes that are read of one response. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Creates the part of the gateway that a walk uses. */
export function toWalkedGateway(gateway: CompiledGateway): WalkedGateway {
  return {
    operations: gateway.contract.operations,
    clock: gateway.clock,
    dispatch: async (arrival, trace, signal) => dispatch(gateway, arrival, trace, () => signal),
    read: (headers, body) =>
      Buffer.isBuffer(body)
        ? decodeForInspection({ status: 200, headers, body }, MAX_BODY_BYTES).then(wholeOf)
        : readThrough(body).then(() => undefined),
  };
}

const wholeOf = (body: Buffer | 'damaged' | undefined) => (body === 'damaged' ? undefined : body);

/**
 * Reads a stream to its end. A streamed body was either too large to be checked or is cut off, which only its end
 * shows.
 */
async function readThrough(body: Readable): Promise<void> {
  let bytes = 0;
  for await (const part of body) {
    bytes += (part as Buffer).length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (bytes > MAX_BODY_BYTES) return;
  }
}

/**
 * Returns the settings of a gateway for a walk. Whatever the configuration says, everything is checked and nothing is
 * refused, changed or stored, and the credential of the walk is forwarded to the upstream.
 */
export function toWalkSettings(settings: Settings, timeoutMs: number | undefined): Settings {
  const mode = MODES.observe;
  return {
    ...settings,
    mode,
    checks: mode.checks,
    checksFor: () => mode.checks,
    errors: mode.errors,
    errorsFor: () => mode.errors,
    embedded: false,
    // These files belong to the serving gateway. A walk does not change them, and their promotions have no effect on
    // it.
    ladder: { ...settings.ladder, file: IN_MEMORY },
    learn: { traffic: false, file: IN_MEMORY },
    rewriteUrls: false,
    // The upstream knows the caller. The roles file may not, and its demo accounts do not exist on a real upstream.
    authentication: { ...settings.authentication, verifier: 'upstream' },
    upstream: {
      ...settings.upstream,
      credentials: { kind: 'forward' },
      ...(timeoutMs !== undefined && {
        connectTimeoutMs: Math.min(timeoutMs, settings.upstream.connectTimeoutMs),
        headersTimeoutMs: timeoutMs,
        bodyTimeoutMs: timeoutMs,
        totalTimeoutMs: timeoutMs,
      }),
    },
  };
}
