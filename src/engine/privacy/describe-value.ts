import { createHmac, randomBytes } from 'node:crypto';
import { boundedMemo } from '../../lib/bounded-maps.ts';

/** What the description of a value may reveal. */
interface DescriptionDetail {
  /**
   * True if the description of a string contains the string's form (such as a date or an address) in addition to its
   * length.
   */
  readonly form: boolean;
  /** True if the description may contain the string itself, provided that the string is a single plain word. */
  readonly word: boolean;
}

/** Options for descriptions that reveal only the type and size of a value. */
export const SIZE_ONLY: DescriptionDetail = { form: false, word: false };

const WORD = /^[A-Za-z][A-Za-z_-]{0,31}$/;

const FORMS: readonly (readonly [form: string, pattern: RegExp])[] = [
  ['a number', /^[+-]?\d{1,20}(?:[.,]\d{1,20})?$/],
  ['a date', /^\d{4}-\d\d-\d\d(?:$|[T ]\d\d:\d\d)|^\d\d\/\d\d\/\d{4}(?:$| \d\d:\d\d)/],
  ['a date', /^[A-Z][a-z]{2},? (?:[A-Z][a-z]{2} \d\d|\d\d [A-Z][a-z]{2}) /],
  ['a URL', /^[a-z][a-z0-9+.-]{1,20}:\/\/\S+$/i],
  ['an email address', /^[^\s@]{1,64}@[^\s@.]{1,63}\.[^\s@]{1,190}$/],
  ['HTML', /^\s*<[!/a-z]/i],
];

// The maximum number of characters to match. It limits the time spent on long strings.
const MAX_MATCHED = 300;

/**
 * Describes a JSON value without revealing it. The description contains the type, the size and, if allowed, the form.
 */
export function describeValue(value: unknown, { form, word }: DescriptionDetail): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `list of ${value.length}`;
  if (typeof value === 'object') {
    const members = Object.keys(value).length;
    return `object with ${members} ${members === 1 ? 'member' : 'members'}`;
  }
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value !== 'string') return typeof value;
  if (word && WORD.test(value)) return `the word ${value}`;
  const size =
    value === '' ? 'empty text' : `text of ${value.length} ${value.length === 1 ? 'character' : 'characters'}`;
  const known = form ? FORMS.find(([, pattern]) => pattern.test(value.slice(0, MAX_MATCHED))) : undefined;
  return known === undefined ? size : `${size}, like ${known[0]}`;
}

/** Returns a short tag for a name. Within one process, tags distinguish callers without revealing their names. */
type NameTag = (name: string) => string;

const MAX_REMEMBERED = 1_000;

/**
 * Creates a function that derives tags with a key. The key is random by default. Only a limited number of tags are
 * cached.
 */
export function createNameTag(key: Buffer = randomBytes(32)): NameTag {
  return boundedMemo(MAX_REMEMBERED, (name: string) =>
    createHmac('sha256', key).update(name).digest('hex').slice(0, 12),
  );
}
