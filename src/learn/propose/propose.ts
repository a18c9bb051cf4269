import { confidenceOf, wilsonBound } from '../confidence.ts';
import { childPath, type DocumentNode, nodeAt, placeName, type SchemaNode } from '../document.ts';
import type { Observations, SwitchCounts } from '../observations/observations.ts';
import { mergeShapes, type Shape } from '../shape/shape.ts';
import type { Limits, Proposal } from './proposal.ts';
import { proposeEnvelopes, proposeFields } from './propose-fields.ts';
import { proposeForms, proposeTypes } from './propose-forms.ts';
import { proposePages } from './propose-pages.ts';
import { proposePaths } from './propose-paths.ts';
import { evidenceOf, proposeShapes } from './propose-shapes.ts';
import { proposeWords } from './propose-words.ts';

/** Returns the proposals that follow from observations. */
export function propose(observations: Observations, document: DocumentNode, limits: Limits): Proposal[] {
  const { minResponses, minConfidence } = limits;
  const groups = [
    // `proposeForms` replaces schemas, so it must run before all functions that change them.
    proposeForms(observations, document, minConfidence),
    proposeShapes(observations, document),
    proposeTypes(observations, document),
    // `proposeOptional` replaces lists, so it must run before `proposeFields`, which appends to them.
    proposeOptional(observations, document, minConfidence),
    proposeFields(observations, document, minResponses),
    proposeEnvelopes(observations, document),
    proposeWords(observations, document, limits),
    proposePages(observations, document, minConfidence),
    proposeSwitches(observations, document),
    proposePaths(observations, document, limits),
  ];
  return groups.flat().filter(({ confidence }) => confidence >= minConfidence);
}

/** A required or expected member that was missing from some objects. `of` is the total number of objects. */
interface MissingMember {
  readonly name: string;
  readonly shape: Shape;
  readonly of: number;
}

/**
 * Proposes to make members optional if some objects did not have them, regardless of whether the contract requires them
 * or only expects them. An overlay cannot remove a single string from a list, so it replaces the whole list. A list
 * that several objects share is replaced only once.
 */
export function proposeOptional(seen: Observations, document: DocumentNode, minConfidence: number): Proposal[] {
  return [...missingByPath(seen)].flatMap(([path, members]) =>
    LISTS.flatMap((list) => proposeShorter(path, list, members, document, minConfidence)),
  );
}

/** The keywords that list members that are always present, and members that usually are. */
const LISTS = ['required', 'x-expected'] as const;

function proposeShorter(
  path: string,
  list: (typeof LISTS)[number],
  members: ReadonlyMap<string, MissingMember>,
  document: DocumentNode,
  minConfidence: number,
): Proposal[] {
  const listed = ((nodeAt(document, path) ?? {}) as SchemaNode)[list];
  const missing = [...members.values()].filter(
    ({ name, shape }) => listed?.includes(name) === true && confidenceOf(shape.seen, shape.answers) >= minConfidence,
  );
  const [first] = missing;
  if (listed === undefined || first === undefined) return [];
  const names = missing.map(({ name }) => name);
  const word = list === 'required' ? 'required' : 'expected';
  const place = placeName(path);
  const rarest = missing.reduce((one, other) => (other.shape.seen < one.shape.seen ? other : one), first);
  const description = `${place}: ${names.join(', ')} ${names.length === 1 ? 'was' : 'were'} missing`;
  const remaining = listed.filter((name) => !names.includes(name));
  return [
    {
      kind: 'optional',
      place,
      statement: `lacks ${word} members: ${names.join(', ')}`,
      confidence: confidenceOf(rarest.shape.seen, rarest.shape.answers),
      evidence: { ...evidenceOf(rarest.shape), of: Math.max(rarest.of, rarest.shape.seen) },
      actions: [
        { target: childPath(path, list), description, remove: true },
        { target: path, description: `${place}: the remaining ${word} members`, update: { [list]: remaining } },
      ],
    },
  ];
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

/** Proposes descriptions that state whether `wrap` and `v1` change the structure of responses. */
export function proposeSwitches({ switches }: Observations, { components }: DocumentNode): Proposal[] {
  const byName = Map.groupBy([...switches], ([key]) => key.split(' ', 1)[0] ?? '');
  return [...byName].map(([name, found]): Proposal => {
    const total = found.reduce((sum, [, { same, different }]) => sum + same + different, 0);
    const changed = found.filter(([, { different }]) => different > 0);
    const different = changed.reduce((sum, [, counts]) => sum + counts.different, 0);
    const operations = changed.map(([key]) => key.slice(name.length + 1)).toSorted();
    const statement =
      different === 0
        ? `does not change the shape of ${total} responses of ${found.length} operations`
        : `changes the shape of the responses of ${operations.join(', ')}`;
    const seen = different === 0 ? total : different;
    return {
      kind: 'switch',
      place: name,
      statement,
      confidence: wilsonBound(seen, total),
      evidence: { seen, answers: total, of: total, ...spanOf(found.map(([, counts]) => counts)) },
      actions:
        components.parameters[name] === undefined
          ? []
          : [
              {
                target: `$.components.parameters.${name}`,
                description: `${name}: a comparison of responses with and without it`,
                update: { description: `According to the sampled responses, it ${statement}.` },
              },
            ],
    };
  });
}

function spanOf(counts: readonly SwitchCounts[]) {
  return {
    firstSeenAt: Math.min(...counts.map(({ firstSeenAt }) => firstSeenAt)),
    lastSeenAt: Math.max(...counts.map(({ lastSeenAt }) => lastSeenAt)),
  };
}
