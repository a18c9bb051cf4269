import { keysOf, pointerTo, valueAt } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';

/** A place in an overlay. */
export type Origin = Pick<Fault, 'source' | 'pointer'>;

/** Remembers which place of which overlay wrote what stands in a document, so that faults can be told there. */
export interface Origins {
  /** A value that an overlay put into an object or an array, with all that is in it. */
  wrote(owner: object, key: string | number, value: unknown, origin: Origin): void;
  /** An object or an array that an overlay changed. */
  changed(value: object, origin: Origin): void;
  /** An object or an array that an overlay took something out of. */
  removedFrom(value: object, origin: Origin): void;
  /** Where exactly the value at a JSON pointer into the document comes from. */
  of(document: unknown, pointer: string): Origin | undefined;
  /** What was changed nearest to a JSON pointer, in or around it; else what was removed last. */
  near(document: unknown, pointer: string): Origin | undefined;
}

/** Makes an empty memory. Objects are known by identity: indices move when elements are removed. */
export function createOrigins(): Origins {
  const written = new Map<object, Origin>();
  const members = new Map<object, Map<string, Origin>>();
  const changes = new Map<object, Origin>();
  let removal: Origin | undefined;

  return {
    wrote: (owner, key, value, origin) => {
      if (isStructure(value)) written.set(value, origin);
      if (!Array.isArray(owner))
        members.set(owner, (members.get(owner) ?? new Map<string, Origin>()).set(String(key), origin));
      changes.set(owner, origin);
    },
    changed: (value, origin) => void changes.set(value, origin),
    removedFrom: (value, origin) => {
      changes.set(value, origin);
      removal = origin;
    },
    of: (document, pointer) => {
      const steps = walk(document, pointer);
      const last = steps.at(-1)?.value;
      const exactly = isStructure(last) ? changes.get(last) : undefined;
      const index = steps.findLastIndex(
        ({ owner, key, value }) =>
          (isStructure(owner) && members.get(owner)?.has(key) === true) || (isStructure(value) && written.has(value)),
      );
      const { owner, key = '', value } = steps[index] ?? {};
      const origin =
        (isStructure(owner) ? members.get(owner)?.get(key) : undefined) ??
        (isStructure(value) ? written.get(value) : undefined);
      if (origin === undefined) return exactly;
      // What an overlay put in, another action may have changed since.
      if (exactly !== undefined && !exactly.pointer.startsWith(origin.pointer)) return exactly;
      const rest = steps.slice(index + 1).map((step) => step.key);
      return { source: origin.source, pointer: `${origin.pointer}${pointerTo(rest)}` };
    },
    near: (document, pointer) => {
      const values = walk(document, pointer).map(({ value }) => value);
      const around = values.findLast((value) => isStructure(value) && changes.has(value));
      return below(changes, values.at(-1)) ?? (isStructure(around) ? changes.get(around) : removal);
    },
  };
}

/** A value on the way to a place, and where in its owner it stands. */
interface Step {
  readonly owner: unknown;
  readonly key: string;
  readonly value: unknown;
}

/** The values on the way to a place, as far as it goes, the document first. */
function walk(document: unknown, pointer: string): Step[] {
  const steps: Step[] = [{ owner: undefined, key: '', value: document }];
  for (const key of keysOf(pointer)) {
    const owner = steps.at(-1)?.value;
    if (!isStructure(owner) || !Object.hasOwn(owner, key)) break;
    steps.push({ owner, key, value: (owner as Readonly<Record<string, unknown>>)[key] });
  }
  return steps;
}

/** The first change in a value. */
function below(changes: ReadonlyMap<object, Origin>, value: unknown): Origin | undefined {
  if (!isStructure(value)) return undefined;
  const own = changes.get(value);
  if (own !== undefined) return own;
  for (const child of Object.values(value)) {
    const found = below(changes, child);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isStructure = (value: unknown): value is object => typeof value === 'object' && value !== null;

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
