import type { Items, LegacyBody } from './legacy-body.ts';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

/** A received response. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body. Undefined if the body is not JSON. */
  readonly json: LegacyBody;
  /** The parsed body if the response is a bare array. */
  readonly items: Items<LegacyBody>;
  /** True if the body has the declared length. */
  readonly complete: boolean;
}

/** The options for a call. */
export interface Call {
  /** The name in the Basic credential. By default, the password equals the name. If null, no credential is sent. */
  readonly user?: string | null;
  readonly password?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** The body. A string is sent unchanged, and any other value as JSON. */
  readonly body?: unknown;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Creates a client for a reference server. Paths are relative to its base path. */
export function clientOf(baseUrl: string): (path: string, call?: Call) => Promise<ReceivedResponse> {
  return (path, { user = 'admin', password = user ?? '', method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const basic = `Basic ${Buffer.from(`${user ?? ''}:${password}`).toString('base64')}`;
      const credential = user === null ? {} : { authorization: basic };
      const sent = httpRequest(baseUrl + path, { method, agent: false, headers: { ...credential, ...headers } });
      sent.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', () => {
          // Tests also inspect truncated bodies, so a truncated body is not an error.
        });
        response.on('close', () => {
          const text = Buffer.concat(parts).toString();
          const { statusCode = 0, headers: received, complete } = response;
          const json = parse(text);
          resolve({
            status: statusCode,
            headers: received,
            text,
            json: json as LegacyBody,
            items: json as Items<LegacyBody>,
            complete,
          });
        });
      });
      sent.on('error', reject);
      sent.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body));
    });
}
