import { type DocumentNode, nodeAt, placeName, type SchemaNode, splitPath } from '../document.ts';
import { confidenceOf } from '../confidence.ts';
import { flatten } from '../sites.ts';
import type { Observations } from '../observations/observations.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import { evidenceOf } from './propose-shapes.ts';
import { schemaWords } from './propose-shapes.ts';
import { type ProposedSchema, toSchema } from './to-schema.ts';
import { kindsOf } from '../shape/shape.ts';

/** Proposals about fields whose values had another type than the contract says. */
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
        statement: `is also ${fresh.length === 1 ? schemaWords(found) : fresh.join(' or ')}, beside ${[...documented].join(' or ')}`,
        confidence: confidenceOf(shape.seen, shape.answers),
        evidence: evidenceOf(shape),
        actions: widen(path, schema, [...documented], { fresh, found }),
      },
    ];
  });
}

/** Keywords that say nothing about values of other types, and the mark of personal data. */
const OF_ONE_TYPE = new Set(['required', 'properties', 'additionalProperties', 'items', 'pattern', 'x-pii']);

/** What was seen of the other type; what the contract says of the documented one stays. */
function beside(schema: SchemaNode, found: ProposedSchema): ProposedSchema {
  return Object.fromEntries(
    Object.entries(found).filter(([keyword]) => OF_ONE_TYPE.has(keyword) && schema[keyword] === undefined),
  );
}

/** A reference and a list of types cannot be changed where they stand: the field is taken out and written anew. */
function widen(
  path: string,
  schema: SchemaNode,
  documented: readonly string[],
  { fresh, found }: { readonly fresh: readonly string[]; readonly found: ProposedSchema },
): OverlayAction[] {
  const place = placeName(path);
  const description = `${place}: a type that was seen beside the documented one`;
  if (schema.$ref === undefined && typeof schema.type === 'string')
    return [{ target: path, description, update: { ...beside(schema, found), type: [...documented, ...fresh] } }];
  const written: SchemaNode =
    schema.$ref === undefined
      ? { ...schema, ...beside(schema, found), type: [...documented, ...fresh] }
      : { anyOf: [schema, found] };
  const { parent, name } = splitPath(path);
  return [
    { target: path, description: `${place}: the next action writes it anew`, remove: true },
    { target: parent, description, update: { [name]: written } },
  ];
}
