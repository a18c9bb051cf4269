import { escapePointer } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import { isJsonObject, type JsonObject, kindOfJson } from './json.ts';
import type { Origin, Origins } from './origins.ts';

/** What merging notes beside its result. */
export interface MergeNotes {
  readonly origins: Origins;
  readonly faults: Fault[];
}

/**
 * Merges an update into an object of the document: new members are added, objects are merged with objects, elements are
 * added to arrays, and other values are replaced. An object or an array is never replaced by something else: that would
 * be a slip more often than a wish, and it can be removed by an action of its own.
 */
export function mergeUpdate(target: JsonObject, update: JsonObject, origin: Origin, notes: MergeNotes): void {
  notes.origins.changed(target, origin);
  for (const [key, value] of Object.entries(update)) {
    const from = { source: origin.source, pointer: `${origin.pointer}/${escapePointer(key)}` };
    const present = Object.hasOwn(target, key) ? target[key] : undefined;
    if (isJsonObject(present) && isJsonObject(value)) mergeUpdate(present, value, from, notes);
    else if (Array.isArray(present) && Array.isArray(value))
      value.forEach((element, index) =>
        appendTo(present, element, { ...from, pointer: `${from.pointer}/${index}` }, notes),
      );
    else if (typeof present !== 'object' || present === null) {
      target[key] = structuredClone(value);
      notes.origins.wrote(target, key, target[key], from);
    } else if (value !== null)
      // An empty member of a YAML update says nothing.
      notes.faults.push({
        ...from,
        message: `${kindOfJson(value)} cannot be merged with ${kindOfJson(present)} of the contract`,
        suggestion: 'remove what is there in an action before this one',
      });
  }
}

/** Appends one element to an array of the document. */
export function appendTo(target: unknown[], element: unknown, origin: Origin, { origins }: MergeNotes): void {
  const copy = structuredClone(element);
  target.push(copy);
  origins.wrote(target, target.length - 1, copy, origin);
}
