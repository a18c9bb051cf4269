import type { DocumentNode } from '../document.ts';
import type { Observations, SwitchCounts } from '../observations/observations.ts';
import type { Proposal } from './proposal.ts';
import { wilsonBound } from './wilson-bound.ts';

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
