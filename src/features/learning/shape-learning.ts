import type { Logger } from 'pino';
import type { Settings } from '../../engine/config/settings.ts';
import { createLearner, type Learner } from '../../learner/create-learner.ts';
import type { DocumentNode } from '../../learner/document.ts';
import { createObservationWriter } from '../../learner/observations/observation-file.ts';
import type { Observations } from '../../learner/observations/observations.ts';
import type { Clock } from '../../lib/clock.ts';

/** Learns the shapes of responses and stores the observations. It survives reloads. */
export interface ShapeLearning {
  /** Returns the learner for a contract document. All of them add to the same observations. */
  learnerFor(document: DocumentNode): Learner;
  /** Schedules a write of the observations. */
  changed(): void;
  /** Writes the latest observations. */
  close(): void;
}

interface ShapeLearningParts {
  readonly known: Settings['profile'];
  readonly file: string;
  readonly observations: Observations;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Continues the given observations. */
export function createShapeLearning({ known, file, observations, clock, logger }: ShapeLearningParts): ShapeLearning {
  if (observations.sinceAt === 0) observations.sinceAt = clock();
  let current: { readonly document: DocumentNode; readonly learner: Learner } | undefined;
  const writer = createObservationWriter(
    file,
    () => current?.learner.observations() ?? observations,
    (message) => logger.warn({ file }, `the observations could not be written: ${message}`),
  );
  return {
    learnerFor(document) {
      if (current?.document !== document)
        current = { document, learner: createLearner({ known, document, clock, before: observations }) };
      return current.learner;
    },
    changed: () => writer.changed(),
    close: () => writer.close(),
  };
}
