import { type DocumentNode, nodeAt, placeName, type SchemaNode } from '../document.ts';
import { confidenceOf } from '../confidence.ts';
import { flatten } from '../sites.ts';
import type { DescribedObjects, Observations } from '../observations/observations.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import { evidenceOf, schemaWords } from './propose-shapes.ts';
import type { FieldShape } from '../shape/shape.ts';
import { objectKeywords, SURE, toSchema } from './to-schema.ts';

/** Proposes undocumented members. */
export function proposeFields({ described }: Observations, document: DocumentNode, minAnswers: number): Proposal[] {
  return [...described].flatMap(([path, seen]) => {
    const schema = nodeAt(document, path) as SchemaNode | undefined;
    if (schema === undefined) return [];
    const sites = flatten(document, { path, schema });
    const known = new Set(sites.flatMap((site) => Object.keys(site.schema.properties ?? {})));
    const owner = { path, schema, seen, requires: schema.required !== undefined };
    const fields = [...seen.objects.fields].filter(
      ([name, { shape }]) => !known.has(name) && shape.answers >= minAnswers,
    );
    const named = fields.map(([name, field]) => proposeField(owner, name, field));
    return [named, sites.length === 1 ? proposeMapKeys(owner, minAnswers) : []].flat();
  });
}

interface Owner {
  readonly path: string;
  readonly schema: SchemaNode;
  readonly seen: DescribedObjects;
  /** True if the schema has a list of required members to which more can be appended. */
  requires: boolean;
}

function proposeField(owner: Owner, name: string, { present, shape }: FieldShape): Proposal {
  const { path, schema, seen } = owner;
  const place = `${placeName(path)}.${name}`;
  const field = toSchema(shape, name);
  const of = seen.objects.seen;
  const required = present === of && confidenceOf(of, seen.objects.answers) >= SURE;
  const update = {
    ...(schema.type === undefined && { type: 'object' }),
    ...(required && !owner.requires && { required: [name] }),
    properties: { [name]: { ...field, 'x-provenance': 'observed' } },
  };
  const actions: OverlayAction[] = [{ target: path, description: `${place}: an undocumented field`, update }];
  if (required && owner.requires)
    actions.push({ target: `${path}.required`, description: `${place} was always present`, update: name });
  owner.requires ||= required;
  return {
    kind: 'field',
    place,
    statement: `exists and is ${schemaWords(field)}${required ? ', always present' : ''}`,
    confidence: confidenceOf(shape.seen, shape.answers),
    evidence: { ...evidenceOf(shape), of: Math.max(of, shape.seen) },
    actions,
  };
}

/** Proposes members whose names are data. The schema must stand alone, as `additionalProperties` also affects inherited members. */
function proposeMapKeys({ path, seen }: Owner, minAnswers: number): Proposal[] {
  const { rest } = seen.objects;
  if (rest === undefined || rest.answers < minAnswers) return [];
  const { additionalProperties } = objectKeywords({ ...seen.objects, fields: new Map() });
  const place = placeName(path);
  return [
    {
      kind: 'field',
      place: `${place}.*`,
      statement: 'has members whose names are data',
      confidence: confidenceOf(rest.seen, rest.answers),
      evidence: evidenceOf(rest),
      actions: [
        { target: path, description: `${place}: members whose names are data`, update: { additionalProperties } },
      ],
    },
  ];
}
