import { createHmac, randomBytes } from 'node:crypto';
import { boundedMemo } from '../lib/bounded-memo.ts';

/** Maps names to short tags that distinguish callers within one process and cannot be reversed. */
type NameTag = (name: string) => string;

const MAX_REMEMBERED = 1_000;

/** Creates tags with a key (random by default); a bounded number of tags is cached. */
export function createNameTag(key: Buffer = randomBytes(32)): NameTag {
  return boundedMemo(MAX_REMEMBERED, (name: string) =>
    createHmac('sha256', key).update(name).digest('hex').slice(0, 12),
  );
}
