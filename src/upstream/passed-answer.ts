import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
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
  /** Sees every part of the body as it comes. */
  readonly scan?: (part: Buffer) => void;
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
  if (context.onLegacyAddress === undefined) return { headers, transforms: [] };
  return { headers, transforms: [], scan: createLegacyAddressScan(legacy, () => context.onLegacyAddress?.()) };
}

/** Writes the head of an answer; fields that are set already win. */
export function writeHead(
  response: ServerResponse,
  answer: Pick<IncomingMessage, 'statusCode' | 'statusMessage'>,
  headers: HeaderPairs,
): void {
  const { statusCode = 502, statusMessage } = answer;
  const own = new Set(response.getHeaderNames());
  if (own.size === 0) return void response.writeHead(statusCode, statusMessage, headers.flat());
  try {
    for (const [name, value] of headers) if (!own.has(name.toLowerCase())) response.appendHeader(name, value);
    response.writeHead(statusCode, statusMessage);
  } catch (error) {
    // Whoever writes an error instead must not find half of these fields.
    for (const name of response.getHeaderNames()) if (!own.has(name)) response.removeHeader(name);
    throw error;
  }
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
