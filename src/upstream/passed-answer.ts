import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';
import { publicHeaders } from './answer-headers.ts';
import { contentCodings } from './content-coding.ts';
import { endToEnd, toHeaderPairs } from './hop-by-hop.ts';
import { createLegacyAddressRewriter, createLegacyAddressScan } from './legacy-address-stream.ts';
import type { LegacyAddresses } from './legacy-addresses.ts';
import type { PassthroughContext } from './passthrough-context.ts';

/** What decides how an answer is passed. */
export interface AnswerChoice {
  readonly context: PassthroughContext;
  readonly legacy: LegacyAddresses;
  /** True when absolute legacy addresses in bodies are rewritten. */
  readonly rewrites: boolean;
}

/** What the client gets of an answer: its fields and what its body runs through. */
export interface PassedAnswer {
  readonly headers: HeaderPairs;
  readonly transforms: readonly Transform[];
}

/** Decides what of an answer is rewritten, reported or left alone. */
export function planAnswer(answer: IncomingMessage, choice: AnswerChoice): PassedAnswer {
  const { context, legacy, rewrites } = choice;
  const raw = endToEnd(toHeaderPairs(answer.rawHeaders));
  const headers = context.transparent ? raw : publicHeaders(raw, legacy, context.publicAddress);
  if (!isText(raw)) return { headers, transforms: [] };
  if (rewrites) {
    return {
      headers: changedLength(headers),
      transforms: [createLegacyAddressRewriter(legacy, context.publicAddress)],
    };
  }
  return { headers, transforms: context.onLegacyAddress ? [scanning(choice)] : [] };
}

/** Writes the head of an answer; fields that are set already win. */
export function writeHead(response: ServerResponse, answer: IncomingMessage, headers: HeaderPairs): void {
  const own = new Set(response.getHeaderNames());
  try {
    for (const [name, value] of headers) if (!own.has(name.toLowerCase())) response.appendHeader(name, value);
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage);
  } catch (error) {
    // Whoever writes an error instead must not find half of these fields.
    for (const name of response.getHeaderNames()) if (!own.has(name)) response.removeHeader(name);
    throw error;
  }
}

function scanning({ context, legacy }: AnswerChoice): Transform {
  const scan = createLegacyAddressScan(legacy, () => context.onLegacyAddress?.());
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      scan(chunk);
      done(null, chunk);
    },
  });
}

// Coded bodies are neither read nor rewritten.
function isText(headers: HeaderPairs): boolean {
  const type = headerValue(headers, 'content-type') ?? '';
  return (
    contentCodings(headers).length === 0 &&
    /^\s*(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript))/i.test(type)
  );
}

// Length and strong validators belong to the bytes that were, not to those that will be.
function changedLength(headers: HeaderPairs): HeaderPairs {
  return headers.flatMap(([name, value]): HeaderPairs => {
    const key = name.toLowerCase();
    if (/^(?:content-length|content-md5|digest|content-digest|repr-digest|accept-ranges)$/.test(key)) return [];
    return [[name, key === 'etag' && !value.startsWith('W/') ? `W/${value}` : value]];
  });
}
