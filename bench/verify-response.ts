import type { Case } from './cases.ts';
import { questionPage, STAMP } from './pages.ts';
import { REQUEST_HEADERS } from './peers/credentials.ts';
import { rawRequest, type RawResponse } from './raw-request.ts';

/** Verifications use keys in descending order from the highest; loads use them in ascending order from the lowest. */
let lastKey = 10_000_000;

/**
 * Sends one request to warm up the server and a second one to verify the response: its status, every byte of the page
 * except the stamp, and the headers that show what the server did.
 */
export async function verifyResponse(one: Case, port: number): Promise<RawResponse> {
  const ask = () =>
    rawRequest(port, one.hasNewTargets === true ? `${one.path}${(lastKey -= 1)}` : one.path, REQUEST_HEADERS);
  await ask();
  const response = await ask();
  const { status, headers, body } = response;
  const fail = (what: string) => new Error(`${what}\n${JSON.stringify(headers)}\n${body.toString().slice(0, 300)}`);
  if (status !== 200) throw fail(`status ${status} instead of 200`);
  const page = questionPage(one.page.size, one.page);
  const plain = Buffer.from(body);
  plain.write(STAMP, page.indexOf(STAMP), 'latin1');
  if (!plain.equals(page)) throw fail('the body is not the page of the upstream');
  for (const [field, wanted] of Object.entries(one.proof ?? {})) {
    const value = headers[field];
    const holds = wanted === 'absent' ? value === undefined : value !== undefined && wanted.test(value);
    if (!holds) throw fail(`${field} is ${value ?? 'absent'}, which is not the expected value`);
  }
  return response;
}
