import { valueAt } from '../../lib/json-pointer.ts';
import type { FieldShape } from './field-shape.ts';
import type { UnknownField } from './find-unknown-fields.ts';
import { shapeAt } from './field-shape.ts';
import type { SchemaError } from './schema-errors.ts';

/** The keyword for an object of another shape: it has none of the required or documented fields. */
export const OTHER_SHAPE = 'shape';

/** The errors and unknown fields of a value, with each cause reported once. */
interface Causes {
  readonly errors: readonly SchemaError[];
  readonly unknown: readonly UnknownField[];
}

/**
 * Reports each cause once. A value of the wrong type has only that error, however many parts of the contract describe
 * it. An object without a single documented field has one error instead of one per required field. If the intended
 * shape is unclear, unknown fields are not reported separately.
 */
export function oneCause(
  shape: FieldShape,
  value: unknown,
  errors: readonly SchemaError[],
  unknown: readonly UnknownField[],
): Causes {
  const missing = Map.groupBy(
    errors.filter(({ keyword }) => keyword === 'required'),
    ({ at }) => parentOf(at),
  );
  const strangers = new Set([...missing.keys()].filter((at) => isStranger(shape, value, at)));
  const unclear = [...strangers, ...errors.filter(({ keyword }) => keyword === 'anyOf').map(({ at }) => at)];
  const typed = new Map(
    errors
      .filter(({ keyword }) => keyword === 'type')
      .map((error) => [error.at, error] as const)
      .toReversed(),
  );
  const seen = new Set<string>();
  const told = errors.flatMap((error): SchemaError[] => {
    if ((typed.get(error.at) ?? error) !== error || isRepeated(seen, error)) return [];
    const within = error.keyword === 'required' ? parentOf(error.at) : undefined;
    if (within === undefined || !strangers.has(within)) return [error];
    const [first, second] = missing.get(within) ?? [];
    // For an empty object that lacks a single field, the missing field is reported.
    if (second === undefined && isEmpty(valueAt(value, within))) return [error];
    return error === first ? [{ ...error, keyword: OTHER_SHAPE, at: within }] : [];
  });
  return { errors: told, unknown: unknown.filter(({ within }) => !unclear.some((at) => isWithin(within, at))) };
}

/** Returns true if another part of the contract has already reported the same error. */
function isRepeated(seen: Set<string>, { keyword, at }: SchemaError): boolean {
  const said = `${keyword} ${at}`;
  if (seen.has(said)) return true;
  seen.add(said);
  return false;
}

/** Returns true for an object that has none of the documented fields. */
function isStranger(shape: FieldShape, value: unknown, at: string): boolean {
  const names = shapeAt(shape, at)?.object?.names;
  const found = valueAt(value, at);
  if (names === undefined || typeof found !== 'object' || found === null) return false;
  return !Object.keys(found).some((name) => names.has(name));
}

const isEmpty = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const parentOf = (at: string) => at.slice(0, at.lastIndexOf('/'));

const isWithin = (at: string, above: string) => at === above || at.startsWith(`${above}/`);
