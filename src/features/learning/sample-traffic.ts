import type { Logger } from 'pino';
import type { FieldPresence } from '../../engine/model/release-statistics.ts';
import type { MessageObserver } from '../../engine/pipeline/message-observer.ts';
import { type DocumentNode, fieldNames } from '../../learner/document.ts';
import { fieldPresence } from '../../learner/sample/field-presence.ts';
import { toSampledResponse } from '../../learner/sample/sampled-response.ts';
import { type JsonLimits, parseBounded, parsedValue } from '../../lib/bounded-json.ts';
import { createLaterTurns } from '../../lib/later-turns.ts';
import type { ShapeLearning } from './shape-learning.ts';

/**
 * Samples traffic: the fields of a few responses for the comparison of releases and, if `learn.traffic` is on, the
 * shapes of responses for proposals.
 */
export interface TrafficSampler {
  readonly messages: MessageObserver;
  /** Samples what is scheduled, and stops. */
  close(): void;
}

interface TrafficSamplerParts {
  /** The contract's document. */
  readonly document: DocumentNode;
  /** Undefined unless `learn.traffic` is on, because all responses must be parsed. */
  readonly shapes: ShapeLearning | undefined;
  /** Returns whether to sample the fields of an operation's response that was received at a time. */
  readonly takeTurn: (operation: string, now: number) => boolean;
  readonly recordFields: (operation: string, presence: FieldPresence) => void;
  /** Limits for parsing a response. */
  readonly jsonLimits: JsonLimits;
  readonly logger: Logger;
}

/** Creates the observer that samples responses. Errors during sampling never affect a request. */
export function createTrafficSampler(parts: TrafficSamplerParts): TrafficSampler {
  const { document, shapes, takeTurn, recordFields, jsonLimits, logger } = parts;
  // The names are collected when they are first needed, because not every process samples responses.
  let names: ReadonlySet<string> | undefined;
  const turns = createLaterTurns();
  let isClosed = false;
  let isReported = false;
  const safely = (step: () => void) => {
    try {
      step();
    } catch (error) {
      if (!isReported) logger.error({ err: error }, 'learning from traffic failed');
      isReported = true;
    }
  };
  // Reading a large response takes as long as checking it, so other requests are served first.
  const later = (step: () => void) => turns.add(() => safely(step));
  return {
    messages: {
      response(exchange, { id }, { status, bytes }) {
        if (isClosed || status < 200 || status > 299 || !takeTurn(id, exchange.arrival.receivedAt)) return;
        later(() => {
          const { details, projected, wrap, v1 } = toSampledResponse(exchange, id, status, undefined);
          // If the caller chose the fields, their absence says nothing about the server.
          if (details || projected || wrap || v1) return;
          const json = parsedValue(parseBounded(bytes, jsonLimits));
          const documented = (names ??= fieldNames(document));
          later(() =>
            recordFields(
              id,
              fieldPresence(json, (name) => documented.has(name)),
            ),
          );
        });
      },
      ...(shapes && {
        parsedResponse(exchange, { id }, { status }, json) {
          if (isClosed || json === undefined) return;
          const learner = shapes.learnerFor(document);
          if (!learner.shouldSample(id)) return;
          later(() => {
            learner.sampleResponse(toSampledResponse(exchange, id, status, json));
            shapes.changed();
          });
        },
        undocumentedResponse({ method, path }, status) {
          if (isClosed) return;
          safely(() => {
            shapes.learnerFor(document).samplePath({ method, path, status });
            shapes.changed();
          });
        },
      }),
    },
    close() {
      isClosed = true;
      turns.runAll();
    },
  };
}
