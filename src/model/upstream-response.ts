import type { Readable } from 'node:stream';
import type { HeaderPairs } from './header-pairs.ts';

/** What the upstream answered: whole in memory (content coding taken off), or still streaming when it was too large. */
export interface UpstreamAnswer {
  readonly status: number;
  /** The reason phrase, where it is passed on. */
  readonly reason?: string;
  /** End-to-end fields only. */
  readonly headers: HeaderPairs;
  readonly body: Buffer | Readable;
}
