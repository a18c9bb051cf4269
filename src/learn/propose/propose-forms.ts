import { confidenceOf } from '../confidence.ts';
import { type DocumentNode, nodeAt, placeName, type SchemaNode, splitPath } from '../document.ts';
import type { Observations } from '../observations/observations.ts';
import { flatten } from '../place-schema.ts';
import { mergeShapes, kindsOf, type Shape } from '../shape/shape.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import { evidenceOf, schemaWords, toSchema, type ProposedSchema } from './propose-shapes.ts';

/**
 * Proposes to remove requirements that the server's values violate: patterns, bounds, formats, word lists, and
 * statements that a field is absent.
 */
export function proposeForms(seen: Observations, document: DocumentNode, minConfidence: number): Proposal[] {
  return [...brokenByPath(seen, minConfidence)].flatMap(([path, broken]): Proposal[] => {
    const node = nodeAt(document, path);
    if (node === false) return [present(path, broken)];
    if (typeof node !== 'object' || node === null) return [];
    const keywords = [...broken.keys()].filter((keyword) => Object.hasOwn(node, keyword));
    const shapes = keywords.flatMap((keyword) => broken.get(keyword) ?? []);
    const [first] = shapes;
    if (first === undefined) return [];
    const rarest = shapes.reduce((one, other) => (other.seen < one.seen ? other : one), first);
    return [
      {
        kind: 'form',
        place: placeName(path),
        statement: `breaks ${keywords.join(' and ')}: ${shapes.map(formWords).join(' and ')}`,
        confidence: confidenceOf(rarest.seen, rarest.answers),
        evidence: evidenceOf(rarest),
        actions: without(path, node as SchemaNode, keywords),
      },
    ];
  });
}

/** Returns the shapes of the values that violate the contract, keyed by the path of the schema and the keyword. */
function brokenByPath(
  { broken }: Observations,
  minConfidence: number,
): ReadonlyMap<string, ReadonlyMap<string, Shape>> {
  const paths = new Map<string, Map<string, Shape>>();
  for (const [key, shape] of broken) {
    if (confidenceOf(shape.seen, shape.answers) < minConfidence) continue;
    const space = key.lastIndexOf(' ');
    const [path, keyword] = [key.slice(0, space), key.slice(space + 1)];
    const keywords = paths.get(path) ?? new Map<string, Shape>();
    paths.set(path, keywords.set(keyword, shape));
  }
  return paths;
}

/** Describes the forms of values without repeating the values. */
function formWords(shape: Shape): string {
  const forms = Object.keys(shape.texts?.forms ?? {});
  return forms.length === 0 ? kindsOf(shape).join(' or ') : `texts of the form ${forms.toSorted().join(' or ')}`;
}

/** Returns the proposal for a field that is documented as absent. */
function present(path: string, broken: ReadonlyMap<string, Shape>): Proposal {
  const place = placeName(path);
  const { parent, name } = splitPath(path);
  const shape = [...broken.values()].reduce((one, other) => mergeShapes(one, other));
  const schema = toSchema(shape, name);
  return {
    kind: 'form',
    place,
    statement: `exists and is ${schemaWords(schema)}, although it is documented as absent`,
    confidence: confidenceOf(shape.seen, shape.answers),
    evidence: evidenceOf(shape),
    actions: [
      {
        target: parent,
        description: `${place}: documented as absent, but it occurs`,
        update: { [name]: { ...schema, 'x-provenance': 'observed' } },
      },
    ],
  };
}

/**
 * Returns the actions that remove keywords from a schema. The whole schema is replaced, because an overlay cannot
 * remove a keyword whose value is a string or a number.
 */
function without(path: string, schema: SchemaNode, keywords: readonly string[]): OverlayAction[] {
  const { parent, name } = splitPath(path);
  if (name === '') return [];
  const place = placeName(path);
  const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));
  return [
    { target: path, description: `${place}: removed, because the next action replaces it`, remove: true },
    { target: parent, description: `${place}: without ${keywords.join(' and ')}`, update: { [name]: rest } },
  ];
}

/** Proposes additional types for fields whose values did not have the documented type. */
export function proposeTypes({ mistyped }: Observations, document: DocumentNode): Proposal[] {
  return [...mistyped].flatMap(([path, shape]): Proposal[] => {
    const schema = nodeAt(document, path) as SchemaNode | undefined;
    if (schema === undefined || schema['const'] !== undefined || schema.enum !== undefined) return [];
    const documented = new Set(flatten(document, { path, schema }).flatMap((site) => [site.schema.type ?? []].flat()));
    const fresh = kindsOf(shape).filter((kind) => !documented.has(kind));
    if (fresh.length === 0) return [];
    const place = placeName(path);
    const found = toSchema(shape, splitPath(path).name);
    return [
      {
        kind: 'type',
        place,
        statement: `is also ${fresh.length === 1 ? schemaWords(found) : fresh.join(' or ')}, in addition to ${[...documented].join(' or ')}`,
        confidence: confidenceOf(shape.seen, shape.answers),
        evidence: evidenceOf(shape),
        actions: widen(path, schema, [...documented], { fresh, found }),
      },
    ];
  });
}

/** Keywords that do not affect values of other types, and the keyword for personal data. */
const SAFE_KEYWORDS = new Set(['required', 'properties', 'additionalProperties', 'items', 'pattern', 'x-pii']);

/**
 * Returns the keywords of the additional type that can be added to the schema without restricting values of the
 * documented type.
 */
function compatibleKeywords(schema: SchemaNode, found: ProposedSchema): ProposedSchema {
  return Object.fromEntries(
    Object.entries(found).filter(([keyword]) => SAFE_KEYWORDS.has(keyword) && schema[keyword] === undefined),
  );
}

/**
 * Returns the actions that add types. An overlay cannot update references or type lists, so each action replaces the
 * whole field.
 */
function widen(
  path: string,
  schema: SchemaNode,
  documented: readonly string[],
  { fresh, found }: { readonly fresh: readonly string[]; readonly found: ProposedSchema },
): OverlayAction[] {
  const place = placeName(path);
  const description = `${place}: a type in addition to the documented one`;
  if (schema.$ref === undefined && typeof schema.type === 'string')
    return [
      { target: path, description, update: { ...compatibleKeywords(schema, found), type: [...documented, ...fresh] } },
    ];
  const written: SchemaNode =
    schema.$ref === undefined
      ? { ...schema, ...compatibleKeywords(schema, found), type: [...documented, ...fresh] }
      : { anyOf: [schema, found] };
  const { parent, name } = splitPath(path);
  return [
    { target: path, description: `${place}: removed, because the next action replaces it`, remove: true },
    { target: parent, description, update: { [name]: written } },
  ];
}
