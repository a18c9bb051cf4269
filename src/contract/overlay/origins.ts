import { keysOf, pointerTo, valueAt } from '../../lib/json-pointer.ts';
import { distinctFaults, type Fault } from '../../model/fault.ts';

/** A place in an overlay. */
export type Origin = Pick<Fault, 'source' | 'pointer'>;

/** Records which overlay wrote each value of a document so that faults can refer to the place in the overlay. */
export interface Origins {
  /** Records that an overlay added a value to an object or array. */
  wrote(owner: object, key: string | number, value: unknown, origin: Origin): void;
  /** Records that an overlay changed an object or array. */
  changed(value: object, origin: Origin): void;
  /** Records that an overlay removed a value from an object or array. */
  removedFrom(value: object, origin: Origin): void;
  /** Returns the origin of the value at a JSON pointer, or undefined if no overlay wrote the value. */
  of(document: unknown, pointer: string): Origin | undefined;
  /**
   * Returns the origin of the change closest to a JSON pointer, either inside or around its value. If there is no such
   * change, returns the origin of the last removal.
   */
  near(document: unknown, pointer: string): Origin | undefined;
}

/**
 * Creates an empty record. Objects are identified by reference, because removing an element changes the indices of
 * other elements.
 */
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
      // A later action may have changed a value that an earlier overlay added.
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

/** A value on the path to a location, and its key in the object or array that contains it. */
interface Step {
  readonly owner: unknown;
  readonly key: string;
  readonly value: unknown;
}

/** Returns the values on the path to a location, from the document itself to the deepest value that exists. */
function walk(document: unknown, pointer: string): Step[] {
  const steps: Step[] = [{ owner: undefined, key: '', value: document }];
  for (const key of keysOf(pointer)) {
    const owner = steps.at(-1)?.value;
    if (!isStructure(owner) || !Object.hasOwn(owner, key)) break;
    steps.push({ owner, key, value: (owner as Readonly<Record<string, unknown>>)[key] });
  }
  return steps;
}

/** Returns the origin of the first change inside a value. */
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

/**
 * Attributes each fault in a document to the place in an overlay that caused it. If no such place is found, the fault
 * is attributed to the last overlay.
 */
export function placeFaults(faults: readonly Fault[], document: unknown, origins: Origins, last: string): Fault[] {
  const placed = faults.map((fault) => {
    const value = valueAt(document, fault.pointer);
    // If a component was removed, the references to it were not changed themselves, so the removal is the cause.
    const removed = typeof value === 'string' && value.startsWith('#/') ? value.slice(1) : undefined;
    const origin = origins.of(document, fault.pointer) ??
      (removed === undefined ? undefined : origins.near(document, removed)) ??
      origins.near(document, fault.pointer) ?? { source: last, pointer: '' };
    return {
      ...fault,
      ...origin,
      message: `${fault.message}; the result is at ${fault.pointer || 'the root'} of the contract`,
    };
  });
  // Several operations can refer to the same schema and therefore have the same fault.
  return distinctFaults(placed);
}
