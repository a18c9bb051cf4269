import { type Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { Body } from './body.ts';

/** A response as the client receives it. */
export interface ClientResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  readonly text: string;
  /** The parsed body, with the type that tests expect. Undefined if the body is not JSON. */
  readonly json: Body;
  /** True if the complete body arrived. */
  readonly complete: boolean;
}

/** The options for a call, apart from its target. */
export interface Call {
  /**
   * The name in the Basic credential. Unless the call sets a password, the password equals the name. If null, no
   * credential is sent.
   */
  readonly user?: string | null;
  readonly password?: string;
  readonly method?: string;
  /** The headers, sent in this order. A header can have several values. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The body. Strings and bytes are sent unchanged, and any other value is sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** An agent that lets several calls share connections. */
  readonly agent?: Agent;
}

/** Returns the `Authorization` value for a name and a password. By default, the password equals the name. */
export function basic(user: string, password = user): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Sends one request with the target exactly as given. Opens a new connection unless the call has an agent. */
export function callAt(origin: string, target: string, call: Call = {}): Promise<ClientResponse> {
  const { user = 'admin', password = user ?? '', method = 'GET', headers = {}, body, signal, agent = false } = call;
  const { hostname, port } = new URL(origin);
  const bytes = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      hostname,
      port,
      path: target,
      method,
      agent,
      // In observe mode, the gateway forwards response headers of any size.
      maxHeaderSize: 1 << 20,
      headers: {
        ...(user === null ? {} : { Authorization: basic(user, password) }),
        ...(typeof body === 'object' && !Buffer.isBuffer(body) ? { 'Content-Type': 'application/json' } : {}),
        ...(bytes === undefined ? {} : { 'Content-Length': Buffer.byteLength(bytes) }),
        ...(headers as Record<string, string | string[]>),
      },
      ...(signal && { signal }),
    });
    sent.on('response', (incoming) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      // Tests also inspect truncated bodies, so a truncated body is not an error.
      incoming.on('error', () => undefined);
      incoming.on('close', () => {
        const all = Buffer.concat(parts);
        const text = all.toString();
        const { statusCode: status = 0, headers: received, rawHeaders, complete } = incoming;
        let parsed: { readonly value: unknown } | undefined;
        resolve({
          status,
          headers: received,
          rawHeaders,
          bytes: all,
          text,
          // Many bodies are large, so a body is parsed only when a test reads this property.
          get json() {
            return (parsed ??= { value: parse(text) }).value as Body;
          },
          complete,
        });
      });
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
