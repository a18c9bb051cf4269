import { wilsonBound } from '../confidence.ts';
import type { DocumentNode } from '../../../learner/document.ts';
import type { Observations } from '../../../learner/observations/observations.ts';
import type { Limits, Proposal } from './proposal.ts';
import { proposeEnvelopes } from './propose-envelopes.ts';
import { proposeFields } from './propose-fields.ts';
import { proposeForms } from './propose-forms.ts';
import { proposeOptional } from './propose-optional.ts';
import { proposePages } from './propose-pages.ts';
import { proposePaths } from './propose-paths.ts';
import { proposeShapes } from './propose-shapes.ts';
import { proposeTypes } from './propose-types.ts';
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

/** Proposes descriptions that state whether `wrap` and `v1` change the structure of responses. */
function proposeSwitches({ switches }: Observations, { components }: DocumentNode): Proposal[] {
  const byName = Map.groupBy([...switches], ([key]) => key.split(' ', 1)[0] ?? '');
  return [...byName].map(([name, found]): Proposal => {
    const counts = found.map(([, one]) => one);
    const total = counts.reduce((sum, { same, different }) => sum + same + different, 0);
    const different = counts.reduce((sum, one) => sum + one.different, 0);
    const changed = found.filter(([, one]) => one.different > 0).map(([key]) => key.slice(name.length + 1));
    const statement =
      different === 0
        ? `does not change the shape of ${total} responses of ${found.length} operations`
        : `changes the shape of the responses of ${changed.toSorted().join(', ')}`;
    const seen = different === 0 ? total : different;
    const firstSeenAt = Math.min(...counts.map((one) => one.firstSeenAt));
    const lastSeenAt = Math.max(...counts.map((one) => one.lastSeenAt));
    const target = `$.components.parameters.${name}`;
    const description = `${name}: a comparison of responses with and without it`;
    const update = { description: `According to the sampled responses, it ${statement}.` };
    return {
      kind: 'switch',
      place: name,
      statement,
      confidence: wilsonBound(seen, total),
      evidence: { seen, answers: total, of: total, firstSeenAt, lastSeenAt },
      actions: components.parameters[name] === undefined ? [] : [{ target, description, update }],
    };
  });
}
