import type { LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import type { Clock } from '../../lib/clock.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import { AddressRefused } from './private-networks.ts';
import type { WebhookMessage } from './webhook-message.ts';

/** How an attempt to send a message ended. The reason contains no data from the response. */
export type Attempt =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: string;
      /** How long the receiver asks to wait, in milliseconds. */
      readonly retryAfterMs?: number | undefined;
      /** True if no later attempt can succeed. */
      readonly isFinal?: true;
    };

/** Sends messages to webhooks. */
export interface Sender {
  send(url: string, message: WebhookMessage, signal: AbortSignal): Promise<Attempt>;
  close(): Promise<void>;
}

/** How long a receiver may take, in milliseconds. */
const TIMEOUT_MS = 15_000;

/** Creates the sender. It follows no redirects, and opens connections only to addresses that may be used. */
export function createSender(lookup: LookupFunction, mayUse: (address: string) => boolean, clock: Clock): Sender {
  const agent = new Agent({
    connect: { lookup, timeout: TIMEOUT_MS },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    connections: 4,
    pipelining: 1,
    maxHeaderSize: 16_384,
  });
  return {
    async send(url, { headers, body }, signal) {
      const { hostname } = new URL(url);
      const literal = hostname.replace(/^\[(.*)\]$/, '$1');
      // An address in place of a name is not looked up.
      if (/^[\d.]+$|:/.test(literal) && !mayUse(literal)) return { ok: false, reason: new AddressRefused().message };
      try {
        const response = await request(url, {
          method: 'POST',
          headers,
          body,
          dispatcher: agent,
          signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        });
        const { statusCode } = response;
        await response.body.dump({ limit: 65_536 }).catch(() => undefined);
        if (statusCode >= 200 && statusCode < 300) return { ok: true };
        return {
          ok: false,
          reason: `status ${statusCode}`,
          retryAfterMs: retryAfterMs(response.headers['retry-after']?.toString(), clock()),
          ...(statusCode === 410 && { isFinal: true }),
        };
      } catch (error) {
        if (signal.aborted) throw error;
        return { ok: false, reason: reasonOf(error) };
      }
    },
    close: () => agent.destroy(),
  };
}

/** Returns the reason of a failure in a few words that never contain an address. */
function reasonOf(error: unknown): string {
  const { name, code, message, cause } = error as { name?: string; code?: unknown; message?: string; cause?: unknown };
  if (error instanceof AddressRefused || cause instanceof AddressRefused) return new AddressRefused().message;
  if (name === 'TimeoutError' || message === 'The operation was aborted due to timeout') return 'timeout';
  return typeof code === 'string' && /^[A-Z_0-9]{1,50}$/.test(code) ? code : 'connection failed';
}
