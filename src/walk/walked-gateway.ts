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
import type { House } from '../pipeline/compiled-gateway.ts';
import { decodeForInspection } from '../upstream/response-body.ts';

/** As much of a house as a walk goes through: no sockets of its own, one request at a time. */
export interface WalkedHouse {
  readonly operations: readonly Operation[];
  readonly clock: Clock;
  /** Takes a request to its answer; throws GatewayError where there is none. */
  dispatch(arrival: Arrival, trace: Trace, signal: AbortSignal): Promise<Dispatched>;
  /** Reads a body without its content coding; undefined when it is too large or cannot be decoded, and throws when it breaks off. */
  read(headers: HeaderPairs, body: Buffer | Readable): Promise<Buffer | undefined>;
}

/** The most bytes of one answer that are read. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** The gateway's own house, as a walk goes through it. */
export function toWalkedHouse(house: House): WalkedHouse {
  return {
    operations: house.contract.operations,
    clock: house.clock,
    dispatch: async (arrival, trace, signal) => dispatch(house, arrival, trace, () => signal),
    read: (headers, body) =>
      Buffer.isBuffer(body)
        ? decodeForInspection({ status: 200, headers, body }, MAX_BODY_BYTES).then(wholeOf)
        : readThrough(body).then(() => undefined),
  };
}

const wholeOf = (body: Buffer | 'damaged' | undefined) => (body === 'damaged' ? undefined : body);

/** A body that is given as a stream was too large to be judged, or breaks off: only its end tells which. */
async function readThrough(body: Readable): Promise<void> {
  let bytes = 0;
  for await (const part of body) {
    bytes += (part as Buffer).length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (bytes > MAX_BODY_BYTES) return;
  }
}

/**
 * The settings of a gateway that a walk goes through: everything is judged and nothing refused, changed or kept, whatever
 * the configuration says, and the credential of the walk goes to the upstream.
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
    // Files of the gateway that serves: a walk changes none of them, and no promotion in them holds here.
    ladder: { ...settings.ladder, file: IN_MEMORY },
    learn: { traffic: false, file: IN_MEMORY },
    rewriteUrls: false,
    // Whoever asks is known to the upstream, not to the roles file; its demo accounts exist behind no real upstream.
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
