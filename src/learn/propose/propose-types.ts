import { type DocumentNode, nodeAt, placeName, type SchemaNode, splitPath } from '../document.ts';
import { confidenceOf } from '../confidence.ts';
import { flatten } from '../place-schema.ts';
import type { Observations } from '../observations/observations.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import { evidenceOf, type ProposedSchema, schemaWords, toSchema } from './propose-shapes.ts';
import { kindsOf } from '../shape/shape.ts';

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

/** Returns the keywords for the additional type that do not restrict values of the documented type. */
function compatibleKeywords(schema: SchemaNode, found: ProposedSchema): ProposedSchema {
  return Object.fromEntries(
    Object.entries(found).filter(([keyword]) => SAFE_KEYWORDS.has(keyword) && schema[keyword] === undefined),
  );
}

/**
 * Returns the actions that add the types. References and type lists cannot be updated, so the whole field is replaced.
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
