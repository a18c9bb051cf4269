import type { Items, LegacyBody } from './legacy-body.ts';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

/** What a test sees of an answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; undefined when it is no JSON. */
  readonly json: LegacyBody;
  /** The same, when the body is a bare array. */
  readonly items: Items<LegacyBody>;
  /** Whether the whole body that was promised came. */
  readonly complete: boolean;
}

/** What a call may say beside its path. */
export interface Call {
  /** Basic credential with the password equal to the name; null sends none. */
  readonly user?: string | null;
  readonly password?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON unless it is a text, which goes as it is. */
  readonly body?: unknown;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A client of one reference server; paths are below its base path. */
export function clientOf(baseUrl: string): (path: string, call?: Call) => Promise<Answer> {
  return (path, { user = 'admin', password = user ?? '', method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const basic = `Basic ${Buffer.from(`${user ?? ''}:${password}`).toString('base64')}`;
      const credential = user === null ? {} : { authorization: basic };
      const sent = httpRequest(baseUrl + path, { method, agent: false, headers: { ...credential, ...headers } });
      sent.on('response', (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', () => {
          // A cut body is something to look at, not a failure of the test.
        });
        answer.on('close', () => {
          const text = Buffer.concat(parts).toString();
          const { statusCode = 0, headers: received, complete } = answer;
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
