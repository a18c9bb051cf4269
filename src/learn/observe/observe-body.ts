import { type Adding, addMember, addValue, countObject } from '../shape/add-value.ts';
import { addWord, hasVocabulary } from './add-word.ts';
import type { Guide } from '../guide.ts';
import type { ObservedAnswer } from './observed.ts';
import { isOtherEnvelope } from './is-other-envelope.ts';
import { mistypedPlaces } from './mistyped-places.ts';
import type { Described, Observations } from '../observations/observations.ts';
import { emptyObjects, emptyShape, type Shape, SHAPE_LIMITS } from '../shape/shape.ts';

type Members = Readonly<Record<string, unknown>>;

/** Goes through an answer beside what the contract says of it, and keeps what the contract does not say. */
export function observeBody(all: Observations, guide: Guide, { status, json }: ObservedAnswer, adding: Adding): void {
  if (!isOtherEnvelope(guide, json, adding.complete)) return observe(all, { guide, name: '' }, json, adding);
  // What says that it is an error is one, whatever its status.
  if (adding.complete && status < 300 && !isError(json))
    addValue(shapeAt(all.envelopes, guide.written.path, adding), json, adding);
}

const isError = (json: unknown) =>
  typeof json === 'object' && json !== null && (Object.hasOwn(json, 'error') || Object.hasOwn(json, 'errors'));

interface Spot {
  readonly guide: Guide;
  /** The field that the value stands in; elements stand in that of their array. */
  readonly name: string;
}

function observe(all: Observations, spot: Spot, value: unknown, adding: Adding): void {
  const { guide, name } = spot;
  if (guide.open) return addValue(shapeAt(all.open, openPath(guide), adding), value, adding);
  if (guide.personal && typeof value === 'string') adding.remember(value);
  const mistyped = mistypedPlaces(guide, value);
  for (const { path } of mistyped) addValue(shapeAt(all.mistyped, path, adding), value, adding);
  if (mistyped.length > 0) return;
  if (typeof value === 'string' && hasVocabulary(guide, name)) addWord(all.vocabularies, guide, value, adding);
  if (Array.isArray(value)) {
    const items = guide.items();
    if (items === undefined) return;
    const elements = value.length > SHAPE_LIMITS.elements ? value.slice(0, SHAPE_LIMITS.elements) : value;
    for (const element of elements as readonly unknown[]) observe(all, { guide: items, name }, element, adding);
  } else if (typeof value === 'object' && value !== null) observeMembers(all, guide, value as Members, adding);
}

function observeMembers(all: Observations, guide: Guide, value: Members, adding: Adding): void {
  const described = describedAt(all, guide.owner.path);
  if (adding.complete) {
    countObject(described.objects, adding);
    for (const { path, name } of guide.required)
      if (!Object.hasOwn(value, name)) addValue(shapeAt(described.missing, `${path} ${name}`, adding), null, adding);
  }
  for (const [name, member] of Object.entries(value)) {
    const known = guide.member(name);
    if (known !== undefined) observe(all, { guide: known, name }, member, adding);
    else if (guide.describesMembers) addMember(described.objects, name, member, adding, 0);
  }
}

/** Where what is learned of an open place is written: a component that stands for many places is left alone. */
function openPath({ owner, written }: Guide): string {
  return owner.schema.type === undefined ? written.path : owner.path;
}

function shapeAt(places: Map<string, Shape>, path: string, { budget }: Adding): Shape {
  const known = places.get(path);
  if (known !== undefined) return known;
  const shape = emptyShape();
  if (budget.left <= 0) {
    budget.dropped += 1;
    return shape;
  }
  budget.left -= 1;
  places.set(path, shape);
  return shape;
}

function describedAt({ described }: Observations, path: string): Described {
  const known = described.get(path) ?? { objects: emptyObjects(), missing: new Map<string, Shape>() };
  described.set(path, known);
  return known;
}
