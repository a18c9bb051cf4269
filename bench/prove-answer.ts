import { gunzipSync } from 'node:zlib';
import { questionPage, STAMP } from './pages.ts';
import { type RawAnswer, rawRequest } from './raw-request.ts';
import type { Asked, Scenario } from './scenarios/scenario.ts';

/** What one answer was like before the rounds; the rounds must all be alike. */
export interface Proof {
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of one answer over the wire, head and body. */
  readonly bytes: number;
  /** Where the answer says so, how it is coded. */
  readonly encoding: string | undefined;
  /** The fields to send in the rounds. */
  readonly sent: Readonly<Record<string, string>>;
}

/** Asks once to warm and once to judge: status, page byte for byte but for the stamp, and the fields that prove the way. */
export async function proveAnswer(name: string, port: number, scenario: Scenario, asked: Asked): Promise<Proof> {
  const path = asked.keys === undefined ? asked.path : `${asked.path}0000000`;
  const first = await rawRequest(port, path, asked.headers);
  const etag = first.headers['etag'];
  if (asked.revalidate === true && etag === undefined) throw new Error(`${name} sends no entity tag`);
  const sent = asked.revalidate === true ? { ...asked.headers, 'If-None-Match': etag ?? '' } : asked.headers;
  const { status, headers, body, bytes } = await settled(port, path, sent);
  const fail = (what: string) =>
    new Error(`${name}, ${scenario.id}: ${what}\n${JSON.stringify(headers)}\n${body.toString().slice(0, 300)}`);
  if (status !== asked.status) throw fail(`status ${status} instead of ${asked.status}`);
  const encoding = headers['content-encoding'];
  if (asked.page) {
    const plain = encoding === 'gzip' ? gunzipSync(body) : body;
    if (scenario.upstream === 'stamped') blankStamp(plain);
    if (!plain.equals(questionPage(scenario.size))) throw fail('the body is not the page of the upstream');
  }
  for (const [field, wanted] of Object.entries(asked.proof ?? {})) {
    const value = headers[field];
    const holds = wanted === 'absent' ? value === undefined : value !== undefined && wanted.test(value);
    if (!holds) throw fail(`${field} is ${value ?? 'absent'}, which does not prove the way it came`);
  }
  return { headers, bytes, encoding, sent };
}

/** A page may be compressed beside the requests: a client that takes gzip waits up to a second for it. */
async function settled(port: number, path: string, headers: Readonly<Record<string, string>>): Promise<RawAnswer> {
  const wantsGzip = headers['Accept-Encoding'] === 'gzip';
  for (let attempt = 0; ; attempt += 1) {
    const answer = await rawRequest(port, path, headers);
    if (!wantsGzip || attempt === 20 || answer.headers['content-encoding'] !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function blankStamp(page: Buffer): void {
  const mark = 'question-';
  const at = page.indexOf(`"slug":"${mark}`) + `"slug":"${mark}`.length;
  page.write(STAMP, at, 'latin1');
}
