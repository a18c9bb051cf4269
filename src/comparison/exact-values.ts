import { countMembers, DEFAULT_JSON_LIMITS, type JsonLimits, parseBounded } from '../lib/bounded-json.ts';

/** A number that a JavaScript number does not represent, or that was written in an unusual way, such as `1.0`. */
export class WrittenNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/**
 * The result of reading a body: its value, or that it is not JSON or exceeds the limits. Numbers in `value` may be of the
 * type `WrittenNumber`, and those in `plain` are not. `hasRepeats` is true if an object has a member twice.
 */
export type ReadJson =
  { readonly value: unknown; readonly plain: unknown; readonly hasRepeats: boolean } | 'malformed' | 'excess';

/**
 * Finds what may be a number that needs its source: one with many digits, a fraction or an exponent. Strings may match,
 * too, which costs only time.
 */
const UNUSUAL = /[\s:,[]-?(?:\d{16}|\d{1,15}[.eE])/;

/** Parses a body so that numbers keep the form in which they were written. */
export function readJson(bytes: Buffer, limits: JsonLimits = DEFAULT_JSON_LIMITS): ReadJson {
  const parsed = parseBounded(bytes, limits);
  if (parsed.state !== 'parsed') return parsed.state;
  const text = new TextDecoder().decode(bytes);
  const value = UNUSUAL.test(` ${text}`) ? (JSON.parse as ParseWithSource)(text, keepSource) : parsed.value;
  return { value, plain: parsed.value, hasRepeats: countMembers(parsed.value) !== parsed.members };
}

type ParseWithSource = (
  text: string,
  reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

const keepSource: Parameters<ParseWithSource>[1] = (_name, value, { source }) =>
  typeof value === 'number' && source !== undefined && source !== String(value) ? new WrittenNumber(source) : value;

/** Returns a body as `JSON.parse` does, or undefined if it is not JSON. */
export const plainValue = (json: ReadJson): unknown => (typeof json === 'string' ? undefined : json.plain);

/** Returns the type of a value in JSON. */
export function typeOfValue(value: unknown): 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof WrittenNumber) return 'number';
  return typeof value as 'boolean' | 'number' | 'string' | 'object';
}

/** Returns the digits of an id, or undefined if the value cannot be an id. */
export function idText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (!(value instanceof WrittenNumber)) return undefined;
  const [, digits = '', zeros = ''] = /^(-?\d+)e(\d{1,2})$/.exec(canonicalNumber(value)) ?? [];
  return digits === '' ? value.source : digits + '0'.repeat(Number(zeros));
}

/**
 * Returns a text that is the same for all ways to write the same number: without a plus sign, an exponent, and zeros
 * that mean nothing. It does not round, so that large ids stay apart.
 */
export function canonicalNumber(value: number | WrittenNumber): string {
  const source = value instanceof WrittenNumber ? value.source : String(value);
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/.exec(source) ?? [];
  if (whole === '') return source;
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  const kept = trimZeros(digits);
  const exponent = Number(power) - fraction.length + (digits.length - kept.length);
  return `${sign}${kept}e${exponent}`;
}

function trimZeros(digits: string): string {
  let end = digits.length;
  while (end > 1 && digits.charAt(end - 1) === '0') end -= 1;
  return digits.slice(0, end);
}

/** Returns the form of a number: whether it is negative, and whether it has a fraction. */
export function numberForm(value: number | WrittenNumber): string {
  const canonical = canonicalNumber(value);
  const exponent = Number(canonical.split('e')[1] ?? 0);
  return `${canonical.startsWith('-') ? 'negative ' : ''}${exponent < 0 ? 'fraction' : 'integer'}`;
}
