import { supportOf } from '../confidence.ts';
import type { SchemaObject } from '../../../engine/contract/openapi-document.ts';
import { childPath, type DocumentNode, nodeAt } from '../../../learner/document.ts';
import type { Observations } from '../../../learner/observations/observations.ts';
import { flatten, memberNames } from '../../../learner/place-schema.ts';
import type { ObjectCounts, Shape } from '../../../learner/shape/shape.ts';
import { type OverlayAction, placeName, type Proposal } from './proposal.ts';
import { expectedMembers, objectKeywords, schemaWords, toSchema } from './proposed-schema.ts';

/** Proposes descriptions for undocumented members. */
export function proposeFields({ described }: Observations, document: DocumentNode, minResponses: number): Proposal[] {
  return [...described].flatMap(([path, { objects }]) => {
    const schema = nodeAt(document, path) as SchemaObject | undefined;
    if (schema === undefined) return [];
    const sites = flatten(document, { path, schema });
    const known = memberNames(sites);
    const owner = { path, schema, objects, hasExpected: schema['x-expected'] !== undefined };
    const named = [...objects.fields]
      .filter(([name, { shape }]) => !known.has(name) && shape.answers >= minResponses)
      .map(([name, { shape }]) => proposeField(owner, name, shape));
    // If several schemas describe the object, `additionalProperties` in one schema would also apply to members that
    // another schema describes.
    return [named, sites.length === 1 ? proposeMapKeys(path, objects, minResponses) : []].flat();
  });
}

interface Owner {
  readonly path: string;
  readonly schema: SchemaObject;
  readonly objects: ObjectCounts;
  /** True if the schema already has a list of expected members to which more names can be added. */
  hasExpected: boolean;
}

function proposeField(owner: Owner, name: string, shape: Shape): Proposal {
  const { path, schema, objects } = owner;
  const place = `${placeName(path)}.${name}`;
  const field = toSchema(shape, name);
  const expected = expectedMembers(objects).includes(name);
  const update = {
    ...(schema.type === undefined && { type: 'object' }),
    ...(expected && !owner.hasExpected && { 'x-expected': [name] }),
    properties: { [name]: { ...field, 'x-provenance': 'observed' } },
  };
  const actions: OverlayAction[] = [{ target: path, description: `${place}: an undocumented field`, update }];
  if (expected && owner.hasExpected)
    actions.push({ target: childPath(path, 'x-expected'), description: `${place} was always present`, update: name });
  owner.hasExpected ||= expected;
  const statement = `exists and is ${schemaWords(field, shape)}${expected ? ', always present' : ''}`;
  return { kind: 'field', place, statement, ...supportOf(shape, objects.seen), actions };
}

/** Proposes descriptions for maps, that is, objects whose member names are data. */
function proposeMapKeys(path: string, objects: ObjectCounts, minResponses: number): Proposal[] {
  const { rest } = objects;
  if (rest === undefined || rest.answers < minResponses) return [];
  const { additionalProperties } = objectKeywords({ ...objects, fields: new Map() });
  const place = placeName(path);
  const statement = 'has members whose names are data';
  const description = `${place}: members whose names are data`;
  const actions = [{ target: path, description, update: { additionalProperties } }];
  return [{ kind: 'field', place: `${place}.*`, statement, ...supportOf(rest), actions }];
}
