import type { Guide, Place } from '../guide.ts';

const NO_PLACES: readonly Place[] = [];

/** The places whose type a value does not have. */
export function mistypedPlaces({ places }: Guide, value: unknown): readonly Place[] {
  const wrong = ({ types }: Place) => types.some((some) => !some.some((type) => isType(type, value)));
  return places.some(wrong) ? places.filter(wrong) : NO_PLACES;
}

function isType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
