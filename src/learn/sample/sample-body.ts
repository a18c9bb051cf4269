import type { Guide, Place } from '../guide.ts';
import type { Described, Observations } from '../observations/observations.ts';
import { type Adding, addMember, addValue, countObject } from '../shape/add-value.ts';
import { emptyObjects, emptyShape, type Shape, SHAPE_LIMITS } from '../shape/shape.ts';
import type { ObservedAnswer } from './sampled-response.ts';
import { addWord, hasVocabulary } from './vocabulary.ts';

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

/** True for an answer of another type, or that lacks most of what it must have: another thing altogether than the contract describes. */
export function isOtherEnvelope(guide: Guide, json: unknown, complete: boolean): boolean {
  if (!guide.open && mistypedPlaces(guide, json).length > 0) return true;
  const required = new Set(guide.required.map(({ name }) => name));
  if (required.size < 2) return false;
  const envelope = guide.sites.some(({ schema }) => schema['x-envelope'] === true);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return true;
  if (!complete && !envelope) {
    const names = Object.keys(json);
    return names.length > 0 && names.every((name) => guide.member(name) === undefined);
  }
  return [...required].filter((name) => !Object.hasOwn(json, name)).length > required.size / 2;
}

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
