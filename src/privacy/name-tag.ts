import { createHmac, randomBytes } from 'node:crypto';

/** Turns names into short tags that tell callers apart within one process and cannot be turned back. */
export type NameTag = (name: string) => string;

const KEPT = 1_000;

/** Creates tags under a key of their own; a bounded number of them is remembered. */
export function createNameTag(key: Buffer = randomBytes(32)): NameTag {
  const tags = new Map<string, string>();
  return (name) => {
    const known = tags.get(name);
    if (known !== undefined) return known;
    const tag = createHmac('sha256', key).update(name).digest('hex').slice(0, 12);
    if (tags.size >= KEPT) tags.clear();
    tags.set(name, tag);
    return tag;
  };
}
