import { supportOf } from '../confidence.ts';
import type { SchemaObject } from '../../../engine/contract/openapi-document.ts';
import { type DocumentNode, nodeAt, splitPath } from '../../../learner/document.ts';
import type { Observations } from '../../../learner/observations/observations.ts';
import { kindsOf, mergeShapes, type Shape } from '../../../learner/shape/shape.ts';
import { placeName, type Proposal, replaceNode } from './proposal.ts';
import { schemaWords, toSchema } from './proposed-schema.ts';

/**
 * Proposes removing requirements that the server's values violate: patterns, bounds, formats, word lists, and
 * statements that a field is absent.
 */
export function proposeForms(seen: Observations, document: DocumentNode, minConfidence: number): Proposal[] {
  return [...brokenByPath(seen, minConfidence)].flatMap(([path, broken]): Proposal[] => {
    const node = nodeAt(document, path);
    if (node === false) return [present(path, [...broken.values()])];
    if (typeof node !== 'object' || node === null) return [];
    const keywords = [...broken.keys()].filter((keyword) => Object.hasOwn(node, keyword));
    const shapes = keywords.flatMap((keyword) => broken.get(keyword) ?? []);
    const [rarest] = shapes.toSorted((one, other) => one.seen - other.seen);
    if (rarest === undefined) return [];
    const remaining = Object.entries(node as SchemaObject).filter(([keyword]) => !keywords.includes(keyword));
    const [place, list] = [placeName(path), keywords.join(' and ')];
    return [
      {
        kind: 'form',
        place,
        statement: `breaks ${list}: ${shapes.map(formWords).join(' and ')}`,
        ...supportOf(rarest),
        actions: replaceNode(path, Object.fromEntries(remaining), place, `without ${list}`),
      },
    ];
  });
}

/** Returns the shapes of the values that violate the contract, keyed by schema path and keyword. */
function brokenByPath({ broken }: Observations, minConfidence: number): ReadonlyMap<string, Map<string, Shape>> {
  const paths = new Map<string, Map<string, Shape>>();
  for (const [key, shape] of broken) {
    if (supportOf(shape).confidence < minConfidence) continue;
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
function present(path: string, shapes: readonly Shape[]): Proposal {
  const place = placeName(path);
  const { parent, name } = splitPath(path);
  const shape = shapes.reduce((one, other) => mergeShapes(one, other));
  const schema = toSchema(shape, name);
  const description = `${place}: documented as absent, but it occurs`;
  return {
    kind: 'form',
    place,
    statement: `exists and is ${schemaWords(schema, shape)}, although it is documented as absent`,
    ...supportOf(shape),
    actions: [{ target: parent, description, update: { [name]: { ...schema, 'x-provenance': 'observed' } } }],
  };
}
