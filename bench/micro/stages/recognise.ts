import type { IncomingMessage } from 'node:http';
import { createRecogniser } from '../../../src/http/recognise.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createKnownTargets } from '../../../src/pipeline/known-targets.ts';
import { PAGE_PATH } from '../../scenarios/asked.ts';
import { operation, type Stage } from '../stage.ts';

/** Target, fields, credential and trace context of a request that was answered from memory before. */
export const recognise: Stage = {
  name: 'recognise',
  what: 'known target, plain fields, credential, trace context, request id',
  paidBy: 'hit',
  prepare: ({ assembly: { house }, known, request }) => {
    const knownTargets = createKnownTargets(2 ** 20);
    knownTargets.remember(PAGE_PATH, known);
    const recogniser = createRecogniser({ house, knownTargets, clock: systemClock });
    if (recogniser(request() as IncomingMessage) === undefined) throw new Error('the request is not recognised');
    return operation(() => request() as IncomingMessage, recogniser);
  },
};
