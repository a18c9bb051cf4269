import { gunzipSync } from 'node:zlib';
import { isStamped, pageOf, STAMP } from './pages.ts';
import { type RawResponse, rawRequest } from './raw-request.ts';
import type { BenchRequest, Scenario } from './scenarios/scenario.ts';

/** A server's verified response. All responses in the rounds must match it. */
export interface Proof {
  readonly headers: Readonly<Record<string, string>>;
  /** The number of bytes in a single response on the wire, including the head. */
  readonly bytes: number;
  /** The content coding, if the response has one. */
  readonly encoding: string | undefined;
  /** The request headers sent during the rounds. */
  readonly sent: Readonly<Record<string, string>>;
}

/**
 * If every key must be new, verifications use keys in descending order from the highest, and rounds use keys in
 * ascending order from the lowest. This is the last key that a verification used.
 */
let lastFreshKey = 10_000_000;

function pathOf({ path, keys }: BenchRequest): string {
  if (keys === undefined) return path;
  return keys === 'fresh' ? `${path}${(lastFreshKey -= 1)}` : `${path}0000000`;
}

/**
 * Sends one request to warm up the server and a second to verify the response: its status, every byte of the page
 * except the stamp, and the expected headers. Some of these headers show whether the response came from the cache.
 */
export async function verifyResponse(
  name: string,
  port: number,
  scenario: Scenario,
  request: BenchRequest,
): Promise<Proof> {
  const first = await rawRequest(port, pathOf(request), request.headers);
  const etag = first.headers['etag'];
  if (request.revalidate === true && etag === undefined) throw new Error(`${name} sends no entity tag`);
  const sent = request.revalidate === true ? { ...request.headers, 'If-None-Match': etag ?? '' } : request.headers;
  const { status, headers, body, bytes } = await settled(port, pathOf(request), sent);
  const fail = (what: string) =>
    new Error(`${name}, ${scenario.id}: ${what}\n${JSON.stringify(headers)}\n${body.toString().slice(0, 300)}`);
  if (status !== request.status) throw fail(`status ${status} instead of ${request.status}`);
  const encoding = headers['content-encoding'];
  if (request.page) {
    const plain = encoding === 'gzip' ? gunzipSync(body) : body;
    if (isStamped(scenario.upstream)) blankStamp(plain);
    if (!plain.equals(pageOf(scenario.size, scenario.upstream))) throw fail('the body is not the page of the upstream');
  }
  for (const [field, wanted] of Object.entries(request.proof ?? {})) {
    const value = headers[field];
    const holds = wanted === 'absent' ? value === undefined : value !== undefined && wanted.test(value);
    if (!holds) throw fail(`${field} is ${value ?? 'absent'}, which is not the expected value`);
  }
  return { headers, bytes, encoding, sent };
}

/**
 * Portico may compress pages in the background, so this function waits up to a second for a compressed page if the
 * client accepts gzip.
 */
async function settled(port: number, path: string, headers: Readonly<Record<string, string>>): Promise<RawResponse> {
  const wantsGzip = headers['Accept-Encoding'] === 'gzip';
  for (let attempt = 0; ; attempt += 1) {
    const response = await rawRequest(port, path, headers);
    if (!wantsGzip || attempt === 20 || response.headers['content-encoding'] !== undefined) return response;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function blankStamp(page: Buffer): void {
  const mark = 'question-';
  const at = page.indexOf(`"slug":"${mark}`) + `"slug":"${mark}`.length;
  page.write(STAMP, at, 'latin1');
}
