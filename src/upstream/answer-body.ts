import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';
import type { UpstreamAnswer } from '../model/upstream-answer.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { areDecodable, contentCodings, decodeContent } from './content-coding.ts';
import { brokenBody, readBody } from './read-body.ts';
import type { SentAnswer } from './send-request.ts';
import { toTransportFailure } from './transport-failure.ts';

/** The whole answer in memory, its content coding taken off; throws `too_large` and `truncated`. */
export async function bufferedAnswer(method: string, sent: SentAnswer, limit: number): Promise<UpstreamAnswer> {
  const declared = Number(headerValue(sent.headers, 'content-length') ?? 0);
  if (method !== 'HEAD' && declared > limit) {
    sent.body.destroy();
    throw new UpstreamFailure('too_large');
  }
  const read = await readBody(sent.body, limit);
  if (read.state === 'broken') throw toTransportFailure(read.error, 'body');
  if (read.state === 'larger') {
    read.stream.destroy();
    throw new UpstreamFailure('too_large');
  }
  const codings = contentCodings(sent.headers);
  if (!areDecodable(codings)) return { status: sent.status, headers: sent.headers, body: read.bytes };
  const body = await decodeContent(read.bytes, codings, limit);
  return { status: sent.status, headers: withLength(sent.headers, method, codings, body), body };
}

/** The answer as it came: in memory when it fits, else as a stream; a broken body gives what came and then breaks. */
export async function transparentAnswer(sent: SentAnswer, limit: number): Promise<UpstreamAnswer> {
  const { status, headers } = sent;
  const read = await readBody(sent.body, limit);
  if (read.state === 'whole') return { status, headers, body: read.bytes };
  if (read.state === 'larger') return { status, headers, body: read.stream };
  return { status, headers, body: brokenBody(read.bytes, toTransportFailure(read.error, 'body')) };
}

/** The body of a transparent answer without its content coding, for checks only; undefined when it cannot be had. */
export async function decodeForInspection(answer: UpstreamAnswer, limit: number): Promise<Buffer | undefined> {
  if (!Buffer.isBuffer(answer.body)) return undefined;
  const codings = contentCodings(answer.headers);
  if (!areDecodable(codings)) return undefined;
  return decodeContent(answer.body, codings, limit).catch(() => undefined);
}

// The coding is off, so its field goes, and the length is that of what is left.
function withLength(headers: HeaderPairs, method: string, codings: readonly string[], body: Buffer): HeaderPairs {
  const isHead = method === 'HEAD';
  return headers.flatMap(([name, value]): HeaderPairs => {
    const key = name.toLowerCase();
    if (key === 'content-encoding') return [];
    if (key !== 'content-length') return [[name, value]];
    if (isHead) return codings.length > 0 ? [] : [[name, value]];
    return [[name, String(body.length)]];
  });
}
