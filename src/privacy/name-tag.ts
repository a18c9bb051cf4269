import { createHmac, randomBytes } from 'node:crypto';
import { boundedMemo } from '../lib/bounded-memo.ts';

/** Turns names into short tags that tell callers apart within one process and cannot be turned back. */
export type NameTag = (name: string) => string;

const MAX_REMEMBERED = 1_000;

/** Creates tags under a key of their own; a bounded number of them is remembered. */
export function createNameTag(key: Buffer = randomBytes(32)): NameTag {
  return boundedMemo(MAX_REMEMBERED, (name: string) =>
    createHmac('sha256', key).update(name).digest('hex').slice(0, 12),
  );
}
