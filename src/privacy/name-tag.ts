import { createHmac, randomBytes } from 'node:crypto';
import { boundedMemo } from '../lib/bounded-memo.ts';

/** Returns a short tag for a name. Tags distinguish callers within one process without revealing their names. */
type NameTag = (name: string) => string;

const MAX_REMEMBERED = 1_000;

/** Creates a function that derives tags with a key, which is random by default. A limited number of tags is cached. */
export function createNameTag(key: Buffer = randomBytes(32)): NameTag {
  return boundedMemo(MAX_REMEMBERED, (name: string) =>
    createHmac('sha256', key).update(name).digest('hex').slice(0, 12),
  );
}
