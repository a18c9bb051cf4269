import { describeValue, SIZE_ONLY } from '../privacy/describe-value.ts';
import { valueAt } from '../lib/json-pointer.ts';

/** Says what stands at a place of a message, never showing personal values; undefined where nothing stands. */
export type DescribeFound = (message: unknown, at: string, keyword: string) => string | undefined;

const WORD_KEYWORDS: ReadonlySet<string> = new Set(['enum', 'const']);

/** Makes the description; `personal` holds the names of fields whose values, and all within, are told by size only. */
export function createDescribeFound(personal: ReadonlySet<string>): DescribeFound {
  return (message, at, keyword) => {
    const value = valueAt(message, at);
    if (value === undefined) return undefined;
    if (at.split('/').some((name) => personal.has(name))) return describeValue(value, SIZE_ONLY);
    return describeValue(value, { form: true, word: WORD_KEYWORDS.has(keyword) });
  };
}
