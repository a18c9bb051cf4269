import type { DocumentNode } from '../document.ts';
import type { Observations } from '../observations/observations.ts';
import type { Limits, Proposal } from './proposal.ts';
import { proposeEnvelopes } from './propose-envelopes.ts';
import { proposeFields } from './propose-fields.ts';
import { proposeForms } from './propose-forms.ts';
import { proposeOptional } from './propose-optional.ts';
import { proposePages } from './propose-pages.ts';
import { proposePaths } from './propose-paths.ts';
import { proposeShapes } from './propose-shapes.ts';
import { proposeSwitches } from './propose-switches.ts';
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
