import type { JSONPathNode, JSONValue } from 'json-p3';
import { pointerTo } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import { countValues, isJsonObject, type JsonObject, kindOfJson } from './json.ts';
import { jsonPath } from './json-path.ts';
import { appendTo, type MergeNotes, mergeUpdate } from './merge-update.ts';
import type { Origin } from './origins.ts';
import type { Overlay, OverlayAction } from './overlay.ts';

/** What overlays may add to a document, in values: some ten times what the contract itself holds. */
export const MAX_ADDED_VALUES = 200_000;

/** What is noted while overlays are applied to one document. */
export interface ApplyNotes extends MergeNotes {
  /** Told, and no reason not to start. */
  readonly warnings: Fault[];
  /** How many values the overlays have added so far. */
  added: number;
}

/** Applies the actions of an overlay in their order, each to what the one before left; changes the document. */
export function applyOverlay(document: JsonObject, { source, actions }: Overlay, notes: ApplyNotes): void {
  actions.forEach((action, index) => {
    const at = `/actions/${index}`;
    const place = (part: string): Origin => ({ source, pointer: `${at}/${part}` });
    const nodes = select(document, action.target, place('target'), notes);
    if (nodes === undefined) return;
    if (nodes.length === 0)
      notes.warnings.push({
        ...place('target'),
        message: `selects nothing, so that it changes nothing: ${action.target}`,
      });
    else if (action.remove === true) removeNodes(document, nodes, place('remove'), notes);
    else updateNodes(nodes, action, place('update'), notes);
  });
}

/** The selected objects and arrays, each once; undefined with a fault noted when something else is among them. */
function select(
  document: JsonObject,
  target: string,
  place: Origin,
  { faults }: ApplyNotes,
): JSONPathNode[] | undefined {
  let nodes: JSONPathNode[];
  try {
    ({ nodes } = jsonPath().query(target, document as JSONValue));
  } catch (error) {
    const [message] = (error instanceof Error ? error.message : '').split('\n', 1);
    faults.push({ ...place, message: `cannot be applied: ${message ?? ''}` });
    return undefined;
  }
  const odd = nodes.find(({ value }) => typeof value !== 'object' || value === null);
  if (odd === undefined) return [...new Map(nodes.map((node) => [node.value, node])).values()];
  faults.push({
    ...place,
    message: `selects ${kindOfJson(odd.value)} at ${pointerTo(odd.location)}; overlays change objects and arrays only`,
    suggestion: 'select the object that holds it',
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
    // By identity: where it stood, another element may stand by now.
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
        message: `must be an object, because the target selects one, not ${kindOfJson(update)}`,
      });
      return;
    }
}

function ownerOf(document: JsonObject, location: readonly (string | number)[]): object {
  return location.slice(0, -1).reduce<unknown>((value, key) => (value as JsonObject)[key], document) as object;
}
