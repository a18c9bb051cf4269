import type { Parameter } from '../../model/operation.ts';
import type { ViolationCategory } from '../../model/violation.ts';

/** The typed value of a parameter, or the requirement that its text violates. */
type TypedValue =
  | { readonly value: unknown }
  | { readonly category: ViolationCategory; readonly keyword: string; readonly must: string };

const MAX_INT64 = 9_223_372_036_854_775_807n;

/** Converts the text of a parameter to its type. Numbers have no signs, blanks, exponents or hexadecimal digits. */
export function toTypedValue(parameter: Parameter, text: string): TypedValue {
  if (parameter.type === 'text') return { value: text };
  if (parameter.type === 'boolean') {
    if (text === 'true' || text === 'false') return { value: text === 'true' };
    return { category: 'type', keyword: 'type', must: 'must be true or false' };
  }
  if (!parameter.wide) {
    if (/^[0-9]{1,9}$/.test(text)) return { value: Number(text) };
    return { category: 'type', keyword: 'type', must: 'must be a whole number of one to nine digits' };
  }
  if (!/^[0-9]{1,19}$/.test(text)) {
    const category = /^[0-9]+$/.test(text) ? 'bounds' : 'type';
    return {
      category,
      keyword: category === 'type' ? 'type' : 'maximum',
      must: 'must be a whole number within 64 bits',
    };
  }
  // Rounded above 2^53: the schema only compares the number with bounds, and the text is what is forwarded.
  if (BigInt(text) <= MAX_INT64) return { value: Number(text) };
  return { category: 'bounds', keyword: 'maximum', must: 'must be a whole number within 64 bits' };
}

/** One decoded `name=value` of a query; undefined where the percent-encoding is invalid. */
interface QueryPair {
  readonly name: string | undefined;
  readonly value: string | undefined;
}

/** Splits a raw query and decodes `+` and `%XX`. Reads at most `max` pairs; `more` is true if there are others. */
export function toQueryPairs(rawQuery: string, max: number): { pairs: readonly QueryPair[]; more: boolean } {
  const parts = rawQuery.split('&', max + 1).filter((part) => part !== '');
  const pairs = parts.slice(0, max).map((part) => {
    const at = part.indexOf('=');
    const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    return { name: decodeText(name.replaceAll('+', ' ')), value: decodeText(value.replaceAll('+', ' ')) };
  });
  return { pairs, more: rawQuery.split('&', max + 1).length > max };
}

/** Decodes `%XX` as UTF-8; returns undefined for invalid encoding, invalid UTF-8 or an encoded NUL. */
export function decodeText(raw: string): string | undefined {
  if (!raw.includes('%')) return raw;
  try {
    const text = decodeURIComponent(raw);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
