import { type DocumentNode, nodeAt, placeName, type SchemaNode } from '../document.ts';
import { confidenceOf } from './confidence-of.ts';
import { mergeShapes } from '../shape/merge-shapes.ts';
import type { Observations } from '../observations/observations.ts';
import type { Proposal } from './proposal.ts';
import { evidenceOf } from './propose-shapes.ts';
import type { Shape } from '../shape/shape.ts';

/** A required member that was absent, of how many objects. */
interface Absent {
  readonly name: string;
  readonly shape: Shape;
  readonly of: number;
}

/**
 * Proposals about members that the contract requires and answers lack. A part that several objects have is one place:
 * an overlay cannot take a text out of a list, so that each list is written anew, once.
 */
export function proposeOptional(seen: Observations, document: DocumentNode, least: number): Proposal[] {
  return [...absentByPath(seen)].flatMap(([path, members]): Proposal[] => {
    const { required } = (nodeAt(document, path) ?? {}) as SchemaNode;
    const gone = [...members.values()].filter(
      ({ name, shape }) => required?.includes(name) === true && confidenceOf(shape.seen, shape.answers) >= least,
    );
    const [first] = gone;
    if (required === undefined || first === undefined) return [];
    const names = gone.map(({ name }) => name);
    const place = placeName(path);
    const seldom = gone.reduce((one, other) => (other.shape.seen < one.shape.seen ? other : one), first);
    const description = `${place}: ${names.join(', ')} ${names.length === 1 ? 'was' : 'were'} absent`;
    const left = required.filter((name) => !names.includes(name));
    return [
      {
        kind: 'optional',
        place,
        statement: `lacks what the contract requires: ${names.join(', ')}`,
        confidence: confidenceOf(seldom.shape.seen, seldom.shape.answers),
        evidence: { ...evidenceOf(seldom.shape), of: Math.max(seldom.of, seldom.shape.seen) },
        actions: [
          { target: `${path}.required`, description, remove: true },
          { target: path, description: `${place}: what is left of it`, update: { required: left } },
        ],
      },
    ];
  });
}

function absentByPath({ described }: Observations): ReadonlyMap<string, ReadonlyMap<string, Absent>> {
  const paths = new Map<string, Map<string, Absent>>();
  for (const { missing, objects } of described.values())
    for (const [key, shape] of missing) {
      const space = key.lastIndexOf(' ');
      const [path, name] = [key.slice(0, space), key.slice(space + 1)];
      const members = paths.get(path) ?? new Map<string, Absent>();
      const before = members.get(name);
      members.set(name, { name, shape: mergeShapes(before?.shape, shape), of: (before?.of ?? 0) + objects.seen });
      paths.set(path, members);
    }
  return paths;
}
