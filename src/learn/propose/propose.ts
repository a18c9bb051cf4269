import { confidenceOf, wilsonBound } from '../confidence.ts';
import { type DocumentNode, nodeAt, placeName, type SchemaNode } from '../document.ts';
import type { Observations, SwitchCounts } from '../observations/observations.ts';
import { mergeShapes } from '../shape/merge-shapes.ts';
import type { Shape } from '../shape/shape.ts';
import type { Limits, Proposal } from './proposal.ts';
import { proposeEnvelopes } from './propose-envelopes.ts';
import { proposeFields } from './propose-fields.ts';
import { proposePages } from './propose-pages.ts';
import { proposePaths } from './propose-paths.ts';
import { evidenceOf, proposeShapes } from './propose-shapes.ts';
import { proposeTypes } from './propose-types.ts';
import { proposeWords } from './propose-words.ts';

/** Everything that observations say beyond a contract, the surest first within each kind. */
export function propose(observations: Observations, document: DocumentNode, limits: Limits): Proposal[] {
  const { minAnswers, minConfidence } = limits;
  const groups = [
    proposeShapes(observations, document),
    proposeTypes(observations, document),
    // Before fields are added to the lists that this writes anew.
    proposeOptional(observations, document, minConfidence),
    proposeFields(observations, document, minAnswers),
    proposeEnvelopes(observations, document),
    proposeWords(observations, document, limits),
    proposePages(observations, document, minConfidence),
    proposeSwitches(observations, document),
    proposePaths(observations, document, limits),
  ];
  return groups.flat().filter(({ confidence }) => confidence >= minConfidence);
}

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

/** Proposals about `wrap` and `v1`: whether answers with them have another shape. */
export function proposeSwitches({ switches }: Observations, { components }: DocumentNode): Proposal[] {
  const byName = Map.groupBy([...switches], ([key]) => key.split(' ', 1)[0] ?? '');
  return [...byName].map(([name, found]): Proposal => {
    const total = found.reduce((sum, [, { same, different }]) => sum + same + different, 0);
    const changed = found.filter(([, { different }]) => different > 0);
    const different = changed.reduce((sum, [, counts]) => sum + counts.different, 0);
    const operations = changed.map(([key]) => key.slice(name.length + 1)).toSorted();
    const statement =
      different === 0
        ? `changes nothing about the shape of ${total} answers to ${found.length} operations`
        : `changes the shape of answers to ${operations.join(', ')}`;
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
                description: `${name}: what answers with it look like beside those without`,
                update: { description: `As far as was seen, it ${statement}.` },
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
