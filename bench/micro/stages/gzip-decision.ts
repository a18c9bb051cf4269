import { createAcceptedCodings } from '../../../src/engine/cache/representation.ts';
import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** The stage that decides whether a client accepts gzip. */
export const gzipDecision: Stage = {
  name: 'gzip decision',
  what: 'choosing a content coding for the Accept-Encoding header of a browser',
  paidBy: 'hit',
  prepare: () => operation(() => fresh('gzip, deflate, br, zstd'), createAcceptedCodings()),
};
