import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.ts';
import { createLearner } from '../../learn/create-learner.ts';
import type { DocumentNode } from '../../learn/document.ts';
import { createObservationWriter } from '../../learn/observations/observation-file.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Operation } from '../../model/operation.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { toSampledResponse } from '../../walk/sampled-response.ts';
import type { LearnedBefore } from '../load-start.ts';

/** Samples traffic and stores the observations. */
export interface Learning {
  readonly sampleResponse: (exchange: Exchange, operation: Operation, status: number, json: unknown) => void;
  readonly samplePath: (method: string, path: string, status: number) => void;
  /** Starts comparing traffic with a different contract document. Earlier observations are preserved. */
  follow(document: DocumentNode): void;
  close(): void;
}

/** Creates the service that samples forwarded responses. Errors during learning never affect a request. */
export function createLearning(
  { learn }: Pick<Settings, 'learn'>,
  { document, observations }: LearnedBefore,
  clock: Clock,
  logger: Logger,
): Learning {
  if (observations.sinceAt === 0) observations.sinceAt = clock();
  let learner = createLearner({ document, clock, before: observations });
  const writer = createObservationWriter(
    learn.file,
    () => learner.observations(),
    (message) => logger.warn({ file: learn.file }, `the observations could not be written: ${message}`),
  );
  /** The scheduled samples that have not been processed yet. */
  const pending = new Set<() => void>();
  let isReported = false;
  const safely = (step: () => void) => {
    try {
      step();
      writer.changed();
    } catch (error) {
      if (!isReported) logger.error({ err: error }, 'learning from traffic failed');
      isReported = true;
    }
  };
  return {
    sampleResponse: (exchange, operation, status, json) => {
      if (json === undefined || !learner.shouldSample(operation.id)) return;
      const sample = () => {
        if (pending.delete(sample))
          safely(() => learner.sampleResponse(toSampledResponse(exchange, operation.id, status, json)));
      };
      pending.add(sample);
      // Sampling a large response takes as long as checking it, so other requests are served first.
      setImmediate(sample);
    },
    samplePath: (method, path, status) => safely(() => learner.samplePath({ method, path, status })),
    follow: (next) => void (learner = createLearner({ document: next, clock, before: observations })),
    close: () => {
      for (const sample of pending) sample();
      writer.close();
    },
  };
}
