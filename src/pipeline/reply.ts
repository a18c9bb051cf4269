import type { Readable } from 'node:stream';
import type { Validity } from '../cache/may-store.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { BodyFacts } from './body-facts.ts';

/** What response validation and paging learned of an answer, for the stages outside of it. */
export interface AnswerFacts {
  readonly validity: Validity;
  readonly body: BodyFacts;
}

/** What a handler answers with; the edge turns it into bytes on a connection. */
export interface Reply {
  readonly status: number;
  /** The upstream's reason phrase, where it is passed on; else the usual one is written. */
  readonly reason?: string;
  readonly headers: HeaderPairs;
  readonly body: Buffer | Readable;
  /** A strong entity tag, where conditional requests are answered. */
  readonly etag?: string;
  readonly facts?: AnswerFacts;
  /** The page count that the answer names; undefined when it names none or the page bound is waived. */
  readonly pageCount?: number | undefined;
  /** The key of the kept page that it is, when it comes from memory. */
  readonly keptAs?: string;
  /** True when another caller's exchange made this reply. */
  readonly shared?: boolean;
}
