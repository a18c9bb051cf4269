import { valueAt } from '../../lib/json-pointer.ts';
import type { FieldShape } from './field-shape.ts';
import type { UnknownField } from './find-unknown-fields.ts';
import { shapeAt } from './field-shape.ts';
import type { SchemaError } from './schema-errors.ts';

/** The keyword of an object that is another one altogether: it has none of the fields that it must have, or could have. */
export const OTHER_SHAPE = 'shape';

/** What is wrong with a value and what is beyond the contract in it, each cause told once. */
interface Causes {
  readonly errors: readonly SchemaError[];
  readonly unknown: readonly UnknownField[];
}

/**
 * Tells each cause once. A value of another type breaks nothing else by what it is, however many parts of the contract
 * describe it. An object without a single documented field is one thing that is wrong, not as many as it must have fields.
 * Where it is not known which shape was meant, fields beyond it are no finding of their own.
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
    // An empty object that lacks one field lacks that one.
    if (second === undefined && isEmpty(valueAt(value, within))) return [error];
    return error === first ? [{ ...error, keyword: OTHER_SHAPE, at: within }] : [];
  });
  return { errors: told, unknown: unknown.filter(({ within }) => !unclear.some((at) => isWithin(within, at))) };
}

/** True for what another part of the contract has said already. */
function isRepeated(seen: Set<string>, { keyword, at }: SchemaError): boolean {
  const said = `${keyword} ${at}`;
  if (seen.has(said)) return true;
  seen.add(said);
  return false;
}

/** True for an object that has none of the fields that the contract knows there. */
function isStranger(shape: FieldShape, value: unknown, at: string): boolean {
  const names = shapeAt(shape, at)?.object?.names;
  const found = valueAt(value, at);
  if (names === undefined || typeof found !== 'object' || found === null) return false;
  return !Object.keys(found).some((name) => names.has(name));
}

const isEmpty = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const parentOf = (at: string) => at.slice(0, at.lastIndexOf('/'));

const isWithin = (at: string, above: string) => at === above || at.startsWith(`${above}/`);
