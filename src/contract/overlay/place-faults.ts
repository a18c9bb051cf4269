import { valueAt } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import type { Origins } from './origins.ts';

/** Names for each fault of a document with overlays the place in an overlay that made it, else the last overlay. */
export function placeFaults(faults: readonly Fault[], document: unknown, origins: Origins, last: string): Fault[] {
  const placed = faults.map((fault) => {
    const value = valueAt(document, fault.pointer);
    // What points to a component that was removed was not touched itself.
    const removed = typeof value === 'string' && value.startsWith('#/') ? value.slice(1) : undefined;
    const origin = origins.of(document, fault.pointer) ??
      (removed === undefined ? undefined : origins.near(document, removed)) ??
      origins.near(document, fault.pointer) ?? { source: last, pointer: '' };
    return {
      ...fault,
      ...origin,
      message: `${fault.message}; so it stands at ${fault.pointer || 'the root'} of the contract`,
    };
  });
  // One schema is met from many operations.
  return [...new Map(placed.map((fault) => [JSON.stringify(fault), fault])).values()];
}
