import { supportOf } from '../confidence.ts';
import type { SchemaObject } from '../../../engine/contract/openapi-document.ts';
import { childPath, type DocumentNode, nodeAt } from '../../../learner/document.ts';
import type { Observations } from '../../../learner/observations/observations.ts';
import { mergeShapes, type Shape } from '../../../learner/shape/shape.ts';
import { placeName, type Proposal } from './proposal.ts';

/** A required or expected member that was missing from some objects. `of` is the total number of objects. */
interface MissingMember {
  readonly name: string;
  readonly shape: Shape;
  readonly of: number;
}

/**
 * Proposes making members optional if they are missing from some objects, regardless of whether the contract requires
 * them or merely expects them. A list shared by several objects is replaced only once.
 */
export function proposeOptional(seen: Observations, document: DocumentNode, minConfidence: number): Proposal[] {
  return [...missingByPath(seen)].flatMap(([path, members]) => {
    const schema = (nodeAt(document, path) ?? {}) as SchemaObject;
    const certain = [...members.values()].filter(({ shape }) => supportOf(shape).confidence >= minConfidence);
    const lists = ['required', 'x-expected'] as const;
    return lists.flatMap((list) => proposeShorter(path, list, schema[list] ?? [], certain));
  });
}

function missingByPath({ described }: Observations): ReadonlyMap<string, ReadonlyMap<string, MissingMember>> {
  const paths = new Map<string, Map<string, MissingMember>>();
  for (const { missing, objects } of described.values())
    for (const [key, shape] of missing) {
      const space = key.lastIndexOf(' ');
      const [path, name] = [key.slice(0, space), key.slice(space + 1)];
      const members = paths.get(path) ?? new Map<string, MissingMember>();
      const before = members.get(name);
      members.set(name, { name, shape: mergeShapes(before?.shape, shape), of: (before?.of ?? 0) + objects.seen });
      paths.set(path, members);
    }
  return paths;
}

function proposeShorter(
  path: string,
  list: 'required' | 'x-expected',
  listed: readonly string[],
  members: readonly MissingMember[],
): Proposal[] {
  const missing = members.filter(({ name }) => listed.includes(name));
  const [rarest] = missing.toSorted((one, other) => one.shape.seen - other.shape.seen);
  if (rarest === undefined) return [];
  const names = missing.map(({ name }) => name);
  const word = list === 'required' ? 'required' : 'expected';
  const place = placeName(path);
  const description = `${place}: ${names.join(', ')} ${names.length === 1 ? 'was' : 'were'} missing`;
  const remaining = listed.filter((name) => !names.includes(name));
  return [
    {
      kind: 'optional',
      place,
      statement: `lacks ${word} members: ${names.join(', ')}`,
      ...supportOf(rarest.shape, rarest.of),
      // An overlay cannot remove individual strings from a list, so the whole list is replaced.
      actions: [
        { target: childPath(path, list), description, remove: true },
        { target: path, description: `${place}: the remaining ${word} members`, update: { [list]: remaining } },
      ],
    },
  ];
}
