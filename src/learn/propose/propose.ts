import type { DocumentNode } from '../document.ts';
import type { Observations } from '../observations/observations.ts';
import type { Limits, Proposal } from './proposal.ts';
import { proposeEnvelopes } from './propose-envelopes.ts';
import { proposeFields } from './propose-fields.ts';
import { proposeOptional } from './propose-optional.ts';
import { proposePages } from './propose-pages.ts';
import { proposePaths } from './propose-paths.ts';
import { proposeShapes } from './propose-shapes.ts';
import { proposeSwitches } from './propose-switches.ts';
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
