import type { Parameter } from '../../model/operation.ts';
import type { ViolationCategory } from '../../model/violation.ts';

/** The value of a parameter's text, or what the text must be instead. */
export type TypedValue =
  | { readonly value: unknown }
  | { readonly category: ViolationCategory; readonly keyword: string; readonly must: string };

const MAX_INT64 = 9_223_372_036_854_775_807n;

/** Reads the text of a parameter by the house's own syntax: no signs, blanks, exponents or hexadecimal digits. */
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
  // Rounded above 2^53; the schema only compares it with bounds, and what is sent on is the text.
  if (BigInt(text) <= MAX_INT64) return { value: Number(text) };
  return { category: 'bounds', keyword: 'maximum', must: 'must be a whole number within 64 bits' };
}

/** One `name=value` of a query, decoded; undefined where the percent-encoding is broken. */
export interface QueryPair {
  readonly name: string | undefined;
  readonly value: string | undefined;
}

/** Splits a raw query and decodes `+` and `%XX`; at most `max` pairs are read, the rest is told by `more`. */
export function toQueryPairs(rawQuery: string, max: number): { pairs: readonly QueryPair[]; more: boolean } {
  const parts = rawQuery.split('&', max + 1).filter((part) => part !== '');
  const pairs = parts.slice(0, max).map((part) => {
    const at = part.indexOf('=');
    const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    return { name: decodeText(name.replaceAll('+', ' ')), value: decodeText(value.replaceAll('+', ' ')) };
  });
  return { pairs, more: rawQuery.split('&', max + 1).length > max };
}

/** Decodes `%XX` as UTF-8; undefined where it is no encoding, no UTF-8 or hides a NUL. */
export function decodeText(raw: string): string | undefined {
  if (!raw.includes('%')) return raw;
  try {
    const text = decodeURIComponent(raw);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
