import type { JSONPathNode, JSONValue } from 'json-p3';
import { escapePointer, pointerTo, keysOf, valueAt } from '../../../lib/json-pointer.ts';
import { type Fault, StartFault, distinctFaults } from '../../model/fault.ts';
import {
  countValues,
  isJsonObject,
  type JsonObject,
  jsonPath,
  kindOfJson,
  type Overlay,
  type OverlayAction,
  readOverlay,
} from './read-overlay.ts';

interface Overlaid {
  readonly document: unknown;
  /** The sources of the overlays, as strings. The contract's digest is computed from them. */
  readonly texts: readonly string[];
  readonly origins: Origins;
  /** Problems that do not prevent startup: actions whose targets match nothing. */
  readonly warnings: readonly Fault[];
}

/**
 * Reads overlays and applies them in order to a copy of a document. Throws a StartFault that lists all errors in the
 * overlays.
 */
export function applyOverlays(base: unknown, files: readonly string[]): Overlaid {
  const overlays = readAll(files);
  // The document is copied as JSON. A YAML alias creates a shared object, and changing it would affect every node that
  // uses the alias.
  const document = JSON.parse(JSON.stringify(base)) as JsonObject;
  const notes: ApplyNotes = { origins: createOrigins(), faults: [], warnings: [], added: 0 };
  for (const overlay of overlays) applyOverlay(document, overlay, notes);
  // Duplicates are removed, because a target with a wildcard causes the same error at every node that it matches.
  const faults = [...new Map(notes.faults.map((fault) => [`${fault.source} ${fault.pointer}`, fault])).values()];
  if (faults.length > 0) throw new StartFault(faults);
  return { document, texts: overlays.map(({ text }) => text), origins: notes.origins, warnings: notes.warnings };
}

function readAll(files: readonly string[]): Overlay[] {
  const faults: Fault[] = [];
  const overlays = files.flatMap((file) => {
    try {
      return [readOverlay(file)];
    } catch (error) {
      if (!(error instanceof StartFault)) throw error;
      faults.push(...error.faults);
      return [];
    }
  });
  if (faults.length > 0) throw new StartFault(faults);
  return overlays;
}

/** The maximum number of values that overlays can add, about ten times as many as the contract has. */
export const MAX_ADDED_VALUES = 200_000;

/** The state recorded while overlays are applied to a document. */
interface ApplyNotes extends MergeNotes {
  /** Problems that do not prevent startup. */
  readonly warnings: Fault[];
  /** The number of values added by overlays so far. */
  added: number;
}

/** Applies an overlay's actions in order, each to the result of the previous one. Modifies the document in place. */
function applyOverlay(document: JsonObject, { source, actions }: Overlay, notes: ApplyNotes): void {
  actions.forEach((action, index) => {
    const at = `/actions/${index}`;
    const place = (part: string): Origin => ({ source, pointer: `${at}/${part}` });
    const nodes = select(document, action.target, place('target'), notes);
    if (nodes === undefined) return;
    if (nodes.length === 0)
      notes.warnings.push({
        ...place('target'),
        message: `selects nothing: ${action.target}`,
      });
    else if (action.remove === true) removeNodes(document, nodes, place('remove'), notes);
    else updateNodes(nodes, action, place('update'), notes);
  });
}

/** Returns each selected object or array once. If anything else is selected, adds an error and returns undefined. */
function select(
  document: JsonObject,
  target: string,
  place: Origin,
  { faults }: ApplyNotes,
): JSONPathNode[] | undefined {
  let nodes: JSONPathNode[];
  try {
    ({ nodes } = jsonPath().query(target, document as JSONValue));
  } catch {
    faults.push({ ...place, message: 'cannot be applied: the target selects too much or is nested too deeply' });
    return undefined;
  }
  const scalar = nodes.find(({ value }) => typeof value !== 'object' || value === null);
  if (scalar === undefined) return [...new Map(nodes.map((node) => [node.value, node])).values()];
  faults.push({
    ...place,
    message: `selects ${kindOfJson(scalar.value)} at ${pointerTo(scalar.location)}; a target must select objects or arrays`,
    suggestion: 'select the object that contains it',
  });
  return undefined;
}

function removeNodes(document: JsonObject, nodes: readonly JSONPathNode[], place: Origin, notes: ApplyNotes): void {
  if (nodes.some(({ location }) => location.length === 0)) {
    notes.faults.push({ ...place, message: 'would remove the whole contract' });
    return;
  }
  const found = nodes.map(({ location, value }) => ({
    owner: ownerOf(document, location),
    key: location.at(-1) ?? '',
    value,
  }));
  for (const { owner, key, value } of found) {
    // The element is found by identity, because earlier removals may have changed its index.
    if (Array.isArray(owner)) owner.splice(owner.indexOf(value), 1);
    else delete (owner as JsonObject)[key];
    notes.origins.removedFrom(owner, place);
  }
}

function updateNodes(
  nodes: readonly JSONPathNode[],
  { update }: OverlayAction,
  place: Origin,
  notes: ApplyNotes,
): void {
  notes.added += nodes.length * countValues(update);
  if (notes.added > MAX_ADDED_VALUES) {
    notes.faults.push({ ...place, message: `adds more than ${MAX_ADDED_VALUES} values to the contract` });
    return;
  }
  for (const { value } of nodes)
    if (Array.isArray(value)) appendTo(value, update, place, notes);
    else if (isJsonObject(update)) mergeUpdate(value as JsonObject, update, place, notes);
    else {
      notes.faults.push({
        ...place,
        message: `must be an object like the selected value, not ${kindOfJson(update)}`,
      });
      return;
    }
}

function ownerOf(document: JsonObject, location: readonly (string | number)[]): object {
  return location.slice(0, -1).reduce<unknown>((value, key) => (value as JsonObject)[key], document) as object;
}

interface MergeNotes {
  readonly origins: Origins;
  readonly faults: Fault[];
}

/**
 * Merges an update into an object in the document. New members are added, objects are merged, elements are appended to
 * arrays, and other values are replaced. An object or array is never replaced with a different kind of value, because
 * such a replacement is usually a mistake. An overlay that replaces one on purpose must first remove the object or
 * array with a separate action.
 */
function mergeUpdate(target: JsonObject, update: JsonObject, origin: Origin, notes: MergeNotes): void {
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
      // In YAML, a key without a value means null. An update with null would have no effect, so the value is probably
      // missing by mistake.
      notes.faults.push({
        ...from,
        message: `${kindOfJson(value)} cannot be merged with ${kindOfJson(present)} in the contract`,
        suggestion: 'remove the existing value in an earlier action',
      });
  }
}

/** Appends an element to an array in the document. */
function appendTo(target: unknown[], element: unknown, origin: Origin, { origins }: MergeNotes): void {
  const copy = structuredClone(element);
  target.push(copy);
  origins.wrote(target, target.length - 1, copy, origin);
}

/** A location in an overlay. */
type Origin = Pick<Fault, 'source' | 'pointer'>;

/** Records which overlay wrote each value in a document, so that errors can refer to a location in the overlay. */
interface Origins {
  /** Records that an overlay added a value to an object or array. */
  wrote(owner: object, key: string | number, value: unknown, origin: Origin): void;
  /** Records that an overlay changed an object or array. */
  changed(value: object, origin: Origin): void;
  /** Records that an overlay removed a value from an object or array. */
  removedFrom(value: object, origin: Origin): void;
  /** Returns the origin of the value at a JSON pointer, or undefined if no overlay wrote the value. */
  of(document: unknown, pointer: string): Origin | undefined;
  /**
   * Returns the origin of the change closest to a JSON pointer. Changes inside the value take precedence over changes
   * around it. If there are none, returns the origin of the last removal.
   */
  near(document: unknown, pointer: string): Origin | undefined;
}

/**
 * Creates an empty record. Objects are identified by reference rather than by pointer, because removing an element
 * changes the indices of other elements.
 */
function createOrigins(): Origins {
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
      // An action may have changed a value that an earlier action added.
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

/** A value on the path to a location, along with its parent object or array and its key there. */
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
 * Attributes each error in a document to the overlay location that caused it. If no such location is found, the error
 * is attributed to the last overlay.
 */
export function placeFaults(faults: readonly Fault[], document: unknown, origins: Origins, last: string): Fault[] {
  const placed = faults.map((fault) => {
    const value = valueAt(document, fault.pointer);
    // References to a removed component remain in the document, so the removal is the cause of the error.
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
  // Several operations can refer to the same schema. Its errors are reported only once.
  return distinctFaults(placed);
}
