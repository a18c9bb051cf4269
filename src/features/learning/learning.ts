import type { Logger } from 'pino';
import type { Settings } from '../../engine/config/settings.ts';
import { createLearner } from './create-learner.ts';
import { type DocumentNode, fieldNames } from './document.ts';
import { createObservationWriter } from './observations/observation-file.ts';
import { fieldPresence } from '../../workbench/learn/sample/field-presence.ts';
import { type JsonLimits, parseBounded, parsedValue } from '../../lib/bounded-json.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { FieldPresence } from '../../engine/model/release-statistics.ts';
import type { Exchange } from '../../engine/pipeline/exchange.ts';
import { toSampledResponse } from '../../workbench/walk/sampled-response.ts';
import type { LearnedBefore } from '../../engine/assembly/load-start.ts';

/**
 * Samples traffic: the fields of a few responses for the comparison of releases and, if `learn.traffic` is on, the
 * shapes of responses for proposals.
 */
export interface Learning {
  /** Samples the fields of a response later, if it is the operation's turn. `bytes` are the decoded body. */
  readonly sampleFields: (exchange: Exchange, operation: Operation, status: number, bytes: Buffer) => void;
  /** Samples the shape of a response. Undefined unless `learn.traffic` is on, because all responses must be parsed. */
  readonly sampleResponse:
    ((exchange: Exchange, operation: Operation, status: number, json: unknown) => void) | undefined;
  /** Samples the path of a request that the contract does not describe. Undefined unless `learn.traffic` is on. */
  readonly samplePath: ((method: string, path: string, status: number) => void) | undefined;
  /** Starts a new release: the fields of its first responses are all sampled. */
  startRelease(label: string): void;
  /** Starts comparing traffic with a different contract document. Earlier observations are preserved. */
  follow(document: DocumentNode): void;
  close(): void;
}

/** The dependencies of the sampling service. */
interface LearningParts {
  readonly settings: Pick<Settings, 'learn' | 'profile' | 'release'>;
  /** The contract's document. */
  readonly document: DocumentNode;
  /** The initial data for learning shapes. Undefined unless `learn.traffic` is on. */
  readonly learned: LearnedBefore | undefined;
  readonly recordFields: (operation: string, presence: FieldPresence) => void;
  /** Limits for parsing a response. */
  readonly jsonLimits: JsonLimits;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The number of responses per operation and release whose fields are all sampled. */
const ENOUGH = 64;
/** After that, the interval in milliseconds between two sampled responses to an operation. */
const SAMPLE_MS = 10_000;

interface FieldSampling {
  count: number;
  dueAt: number;
}

/** Creates the service that samples forwarded responses. Errors during sampling never affect a request. */
export function createLearning(parts: LearningParts): Learning {
  const { clock, logger, recordFields, jsonLimits, learned } = parts;
  const shapes = learned && createShapeLearning(parts.settings, learned, clock, logger);
  let { release } = parts.settings;
  let { document } = parts;
  // The names are collected when they are first needed, because not every process samples responses.
  let names: ReadonlySet<string> | undefined;
  let sampled = new Map<string, FieldSampling>();
  /** The scheduled samples that have not been processed yet. */
  const pending = new Set<() => void>();
  let isReported = false;
  const safely = (step: () => void) => {
    try {
      step();
    } catch (error) {
      if (!isReported) logger.error({ err: error }, 'learning from traffic failed');
      isReported = true;
    }
  };
  const takeTurn = (operation: string, now: number): boolean => {
    let sampling = sampled.get(operation);
    if (sampling === undefined) sampled.set(operation, (sampling = { count: 0, dueAt: 0 }));
    if (now < sampling.dueAt) return false;
    sampling.count += 1;
    if (sampling.count >= ENOUGH) sampling.dueAt = now + SAMPLE_MS;
    return true;
  };
  // Reading a large response takes as long as checking it, so other requests are served first.
  const later = (step: () => void) => {
    const sample = () => {
      if (pending.delete(sample)) safely(step);
    };
    pending.add(sample);
    setImmediate(sample);
  };
  return {
    sampleFields: (exchange, operation, status, bytes) => {
      const { id } = operation;
      if (status < 200 || status > 299 || !takeTurn(id, exchange.arrival.receivedAt)) return;
      later(() => {
        const { details, projected, wrap, v1 } = toSampledResponse(exchange, id, status, undefined);
        // If the caller chose the fields, their absence says nothing about the server.
        if (details || projected || wrap || v1) return;
        const json = parsedValue(parseBounded(bytes, jsonLimits));
        const documented = (names ??= fieldNames(document));
        recordFields(
          id,
          fieldPresence(json, (name) => documented.has(name)),
        );
      });
    },
    sampleResponse:
      shapes &&
      ((exchange, { id }, status, json) => {
        if (json === undefined || !shapes.shouldSample(id)) return;
        later(() => shapes.sampleResponse(toSampledResponse(exchange, id, status, json)));
      }),
    samplePath: shapes && ((method, path, status) => safely(() => shapes.samplePath(method, path, status))),
    startRelease: (label) => {
      if (label === release) return;
      release = label;
      sampled = new Map();
    },
    follow: (next) => {
      if (next === document) return;
      document = next;
      names = undefined;
      shapes?.follow(next);
    },
    close: () => {
      for (const sample of pending) sample();
      shapes?.close();
    },
  };
}

/** Learns the shapes of responses and stores the observations. */
function createShapeLearning(
  { learn, profile: known }: Pick<Settings, 'learn' | 'profile'>,
  { document, observations }: LearnedBefore,
  clock: Clock,
  logger: Logger,
) {
  if (observations.sinceAt === 0) observations.sinceAt = clock();
  let learner = createLearner({ known, document, clock, before: observations });
  const writer = createObservationWriter(
    learn.file,
    () => learner.observations(),
    (message) => logger.warn({ file: learn.file }, `the observations could not be written: ${message}`),
  );
  return {
    shouldSample: (operation: string) => learner.shouldSample(operation),
    sampleResponse: (response: Parameters<typeof learner.sampleResponse>[0]) => {
      learner.sampleResponse(response);
      writer.changed();
    },
    samplePath: (method: string, path: string, status: number) => {
      learner.samplePath({ method, path, status });
      writer.changed();
    },
    follow: (next: DocumentNode) =>
      void (learner = createLearner({ known, document: next, clock, before: observations })),
    close: () => writer.close(),
  };
}
