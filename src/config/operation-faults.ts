import type { Fault } from '../model/fault.ts';
import { isPlainObject } from './plain-object.ts';
import type { Settings } from './settings.ts';
import { closestName } from '../lib/closest-name.ts';
import { escapePointer } from '../lib/json-pointer.ts';

/** The faults of keys that name an operation which the contract does not have. */
export function operationFaults(settings: Settings, operationIds: readonly string[]): readonly Fault[] {
  const known = new Set(operationIds);
  const named = [
    ...keysUnder('/operations', settings.operations),
    ...keysUnder('/parameters/allow', settings.parameters.allow),
    ...keysUnder('/cache/defaultPageSize', settings.cache.defaultPageSize),
  ];
  const faults: Fault[] = [];
  for (const { id, pointer } of named) {
    if (known.has(id)) continue;
    const near = closestName(id, operationIds);
    faults.push({
      ...settings.placeOf(pointer),
      message: `${id.slice(0, 100)} is not an operation of the contract`,
      ...(near !== undefined && { suggestion: `did you mean ${near}?` }),
    });
  }
  return faults;
}

function keysUnder(pointer: string, value: unknown): { id: string; pointer: string }[] {
  if (!isPlainObject(value)) return [];
  return Object.keys(value).map((id) => ({
    id,
    pointer: `${pointer}/${escapePointer(id)}`,
  }));
}
