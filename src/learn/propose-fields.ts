import { type DocumentNode, nodeAt, placeName, type SchemaNode } from './document.ts';
import { flatten } from './guide.ts';
import type { Described, Observations } from './observations.ts';
import type { Limits, OverlayAction, Proposal } from './proposal.ts';
import { evidenceOf } from './propose-shapes.ts';
import { schemaWords } from './schema-words.ts';
import type { FieldShape } from './shape.ts';
import { objectKeywords, SURE, toSchema } from './to-schema.ts';
import { wilsonBound } from './wilson-bound.ts';

/** Proposals about members that the contract does not have, and about those that it requires and answers lack. */
export function proposeFields({ described }: Observations, document: DocumentNode, limits: Limits): Proposal[] {
  const { minAnswers, minConfidence } = limits;
  return [...described].flatMap(([path, seen]) => {
    const schema = nodeAt(document, path) as SchemaNode | undefined;
    if (schema === undefined) return [];
    const sites = flatten(document, { path, schema });
    const known = new Set(sites.flatMap((site) => Object.keys(site.schema.properties ?? {})));
    const owner = { path, schema, seen, requires: schema.required !== undefined };
    const fields = [...seen.objects.fields].filter(
      ([name, { shape }]) => !known.has(name) && shape.answers >= minAnswers,
    );
    // Absent ones first: that writes anew the list of required members that fields are added to.
    const absent = proposeOptional(seen, document, minConfidence);
    const named = fields.map(([name, field]) => proposeField(owner, name, field));
    return [absent, named, sites.length === 1 ? proposeRest(owner, minAnswers) : []].flat();
  });
}

interface Owner {
  readonly path: string;
  readonly schema: SchemaNode;
  readonly seen: Described;
  /** True once the schema has a list of required members that more can be appended to. */
  requires: boolean;
}

function proposeField(owner: Owner, name: string, { present, shape }: FieldShape): Proposal {
  const { path, schema, seen } = owner;
  const place = `${placeName(path)}.${name}`;
  const field = toSchema(shape, name);
  const of = seen.objects.seen;
  const required = present === of && wilsonBound(present, of) >= SURE;
  const update = {
    ...(schema.type === undefined && { type: 'object' }),
    ...(required && !owner.requires && { required: [name] }),
    properties: { [name]: { ...field, 'x-provenance': 'observed' } },
  };
  const actions: OverlayAction[] = [
    { target: path, description: `${place}: a field that the contract does not have`, update },
  ];
  if (required && owner.requires)
    actions.push({ target: `${path}.required`, description: `${place} was never absent`, update: name });
  owner.requires ||= required;
  return {
    kind: 'field',
    place,
    statement: `exists and is ${schemaWords(field)}${required ? ', always there' : ''}`,
    confidence: wilsonBound(shape.seen, shape.seen),
    evidence: { ...evidenceOf(shape), of: Math.max(of, shape.seen) },
    actions,
  };
}

/** Members whose names are data: only where the schema stands alone, because it would speak of inherited members too. */
function proposeRest({ path, seen }: Owner, minAnswers: number): Proposal[] {
  const { rest } = seen.objects;
  if (rest === undefined || rest.answers < minAnswers) return [];
  const { additionalProperties } = objectKeywords({ ...seen.objects, fields: new Map() });
  const place = placeName(path);
  return [
    {
      kind: 'field',
      place: `${place}.*`,
      statement: 'has members whose names are data',
      confidence: wilsonBound(rest.seen, rest.seen),
      evidence: evidenceOf(rest),
      actions: [
        { target: path, description: `${place}: members whose names are data`, update: { additionalProperties } },
      ],
    },
  ];
}

/** Required members that were absent. An overlay cannot take a text out of a list, so the list is written anew. */
function proposeOptional({ missing, objects }: Described, document: DocumentNode, least: number): Proposal[] {
  const found = [...missing]
    .map(([key, shape]) => ({
      path: key.slice(0, key.lastIndexOf(' ')),
      name: key.slice(key.lastIndexOf(' ') + 1),
      shape,
    }))
    .filter(({ shape }) => wilsonBound(shape.seen, shape.seen) >= least);
  return [...Map.groupBy(found, ({ path }) => path)].flatMap(([path, absent]): Proposal[] => {
    const { required } = (nodeAt(document, path) ?? {}) as SchemaNode;
    const gone = absent.filter(({ name }) => required?.includes(name));
    const [first] = gone;
    if (required === undefined || first === undefined) return [];
    const names = gone.map(({ name }) => name);
    const place = placeName(path);
    const seldom = gone.reduce((one, { shape }) => (shape.seen < one.seen ? shape : one), first.shape);
    const description = `${place}: ${names.join(', ')} ${names.length === 1 ? 'was' : 'were'} absent`;
    const left = required.filter((name) => !names.includes(name));
    return [
      {
        kind: 'optional',
        place,
        statement: `lacks what the contract requires: ${names.join(', ')}`,
        confidence: wilsonBound(seldom.seen, seldom.seen),
        evidence: { ...evidenceOf(seldom), of: Math.max(objects.seen, seldom.seen) },
        actions: [
          { target: `${path}.required`, description, remove: true },
          { target: path, description: `${place}: what is left of it`, update: { required: left } },
        ],
      },
    ];
  });
}
