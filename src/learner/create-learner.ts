import type { Clock } from '../lib/clock.ts';
import { addValue, type SampleContext } from './shape/add-value.ts';
import { type DocumentNode, fieldNames } from './document.ts';
import { compilePlaceSchemas } from './place-schema.ts';
import { createDistinctFacts, hashOf } from './shape/distinct-facts.ts';
import { type SampledResponse, sampleBody } from './sample/sample-body.ts';
import { samplePageSize } from './sample/page-sizes.ts';
import { createSwitchComparison } from './sample/switches.ts';
import { countShapes, type Observations, type PathCounts, redactObservations } from './observations/observations.ts';
import { compilePathTemplate } from '../engine/privacy/path-template.ts';
import { createPersonalMemory } from '../engine/privacy/personal-memory.ts';
import { emptyShape, SHAPE_LIMITS } from './shape/shape.ts';

/** Samples responses. Sampling is fast enough to run while requests are handled. */
export interface Learner {
  /**
   * Returns whether to sample the next response of an operation. The first {@link ENOUGH} responses are all sampled.
   * After that, one in {@link SAMPLE} is sampled.
   */
  shouldSample(operation: string): boolean;
  sampleResponse(response: SampledResponse): void;
  samplePath(path: SampledPath): void;
  /** Returns the observations in a form that is safe to store and to use for proposals. */
  observations(): Observations;
}

/** A response to a request for an undocumented path. */
interface SampledPath {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The body of a successful response. Undefined if the body was streamed. */
  readonly json?: unknown;
}

/** The dependencies of a learner. */
interface LearnerParts {
  /** The paths of the API that are known in advance. */
  readonly known: Parameters<typeof compilePathTemplate>[1];
  readonly document: DocumentNode;
  readonly clock: Clock;
  /** Earlier observations. The learner adds new observations to this object. */
  readonly before: Observations;
  /**
   * True for a walk, which sends each request only once. If true, the structure of every response is remembered, so
   * that responses with and without a switch (`wrap` or `v1`) can be compared.
   */
  readonly walk?: boolean;
}

/** The number of responses sampled per operation before sampling drops to one in {@link SAMPLE}. */
const ENOUGH = 300;
const SAMPLE = 16;

/** The maximum number of undocumented path templates to store. */
const MAX_PATHS = 200;

/** The minimum number of distinct responses that must contain a word or an undocumented field before it is stored. */
const MIN_RESPONSES = 3;

/** Creates a learner for a contract. */
export function createLearner({ known, document, clock, before, walk = false }: LearnerParts): Learner {
  const findPlaceSchema = compilePlaceSchemas(document);
  const templates = compilePathTemplate(Object.keys(document.paths), known);
  const personal = createPersonalMemory();
  const documented = fieldNames(document);
  const isDocumented = (name: string) => documented.has(name);
  // The name of a documented field is not confidential, even when it is also a person's name.
  const isPersonal = (name: string) => personal.contains(name) && !isDocumented(name);
  const switches = createSwitchComparison(walk);
  const requestCounts = new Map<string, number>();
  const budget = { left: SHAPE_LIMITS.shapes - countShapes(before), dropped: 0 };
  const { isNew } = createDistinctFacts();
  // An item might be counted twice, because it is not known which items earlier runs counted. Values from earlier runs
  // therefore must not count as evidence that a vocabulary is complete.
  for (const vocabulary of before.vocabularies.values()) vocabulary.quiet = vocabulary.quietAnswers = 0;
  let responses = 0;
  const context = (complete: boolean): SampleContext => ({
    isNew,
    responseNumber: (responses += 1),
    complete,
    now: clock(),
    budget,
    members: { left: SHAPE_LIMITS.members },
    remember: personal.remember,
    isPersonal,
  });

  return {
    shouldSample: (operation) => {
      const count = (requestCounts.get(operation) ?? 0) + 1;
      requestCounts.set(operation, count);
      return count <= ENOUGH || count % SAMPLE === 0;
    },
    sampleResponse: (response) => {
      before.untilAt = clock();
      const { operation, status, details, projected, page: number, pageSize, request } = response;
      const content = hashOf(JSON.stringify(response.json) ?? '');
      const isCounted = (fact: string) => !isNew(fact, { place: hashOf(operation), item: content });
      switches.add(before.switches, response, clock(), isNew);
      // `wrap` and `v1` can change the structure of a response, so a response with either is used only for comparisons.
      if (response.wrap || response.v1) return;
      const isRepeated = isCounted(`size ${status} ${number} ${pageSize}`);
      if (isNew(`size ${status}`, { place: hashOf(operation), item: hashOf(request) }) && !isRepeated)
        samplePageSize(before, response, clock());
      // A body that was already sampled provides no new evidence, regardless of the request.
      if (isCounted(`body ${status} ${details} ${projected}`)) return;
      before.answers += 1;
      const placeSchema = findPlaceSchema(response.operation, response.status, response.details);
      if (placeSchema === undefined) return;
      sampleBody(before, placeSchema, response, context(!response.projected));
    },
    samplePath: ({ method, path, status, json }) => {
      before.untilAt = clock();
      const key = `${/^[A-Z]{1,10}$/.test(method) ? method : 'OTHER'} ${templates.of(path, status >= 200 && status < 300)}`;
      const place = before.paths.get(key) ?? emptyPath(clock());
      if (!before.paths.has(key) && before.paths.size >= MAX_PATHS) {
        before.dropped += 1;
        return;
      }
      before.paths.set(key, place);
      place.seen += 1;
      place.lastSeenAt = clock();
      place.statuses.set(status, (place.statuses.get(status) ?? 0) + 1);
      if (json !== undefined && status >= 200 && status < 300)
        addValue((place.body ??= emptyShape()), json, { place: hashOf(key), item: hashOf(path) }, context(true));
    },
    observations: () => {
      before.dropped += budget.dropped;
      budget.dropped = 0;
      return redactObservations(before, {
        minResponses: MIN_RESPONSES,
        isPersonal,
        isDocumented,
        isKnownWord: templates.isKnown,
      });
    },
  };
}

function emptyPath(now: number): PathCounts {
  return { seen: 0, statuses: new Map(), body: undefined, firstSeenAt: now, lastSeenAt: now };
}
