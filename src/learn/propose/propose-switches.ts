import { wilsonBound } from '../confidence.ts';
import type { DocumentNode } from '../document.ts';
import type { Observations, SwitchCounts } from '../observations/observations.ts';
import type { Proposal } from './proposal.ts';

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
