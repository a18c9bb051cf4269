import type { Clock } from '../lib/clock.ts';
import { addValue, type Adding } from './shape/add-value.ts';
import { type DocumentNode, fieldNames } from './document.ts';
import { compileGuides } from './guide.ts';
import type { ObservedAnswer, ObservedPath } from './sample/sampled-response.ts';
import { observeBody } from './sample/sample-body.ts';
import { observePageSize } from './sample/page-sizes.ts';
import { createSwitchWatch } from './sample/switches.ts';
import { countShapes, settleObservations } from './observations/settle-observations.ts';
import type { Observations, PathCounts } from './observations/observations.ts';
import { compilePathTemplate } from './sample/path-template.ts';
import { createPersonalMemory } from '../privacy/personal-memory.ts';
import { emptyShape, SHAPE_LIMITS } from './shape/shape.ts';

/** Learns from answers; cheap enough for the request path. */
export interface Learner {
  /** True when the next answer of this operation should be observed: all at first, later some. */
  wants(operation: string): boolean;
  observeAnswer(answer: ObservedAnswer): void;
  observePath(path: ObservedPath): void;
  /** What may be written down and proposed. */
  observations(): Observations;
}

/** What a learner is made of. */
export interface LearnerParts {
  readonly document: DocumentNode;
  readonly clock: Clock;
  /** What was learned before; it is taken over and changed. */
  readonly before: Observations;
  /** True for a walk, which asks everything once: plain answers are remembered for the comparison with those that follow. */
  readonly walk?: boolean;
}

/** Answers of one operation that are all observed; afterwards one in {@link SAMPLE}. */
const ENOUGH = 300;
const SAMPLE = 16;

/** Templates of undocumented paths that are remembered. */
const MAX_PATHS = 200;

/** Distinct answers below which the name of an unknown field, or a word, is written nowhere. */
const MIN_ANSWERS = 3;

/** Makes a learner for one contract. */
export function createLearner({ document, clock, before, walk = false }: LearnerParts): Learner {
  const findGuide = compileGuides(document);
  const templates = compilePathTemplate(Object.keys(document.paths));
  const personal = createPersonalMemory();
  const documented = fieldNames(document);
  const isDocumented = (name: string) => documented.has(name);
  // Somebody may be called like a field of the contract: the name tells nothing then.
  const isPersonal = (name: string) => personal.holds(name) && !isDocumented(name);
  const switches = createSwitchWatch(walk);
  const asked = new Map<string, number>();
  const budget = { left: SHAPE_LIMITS.shapes - countShapes(before), dropped: 0 };
  let answer = 0;
  const adding = (complete: boolean): Adding => ({
    answer: (answer += 1),
    complete,
    now: clock(),
    budget,
    remember: personal.remember,
    isPersonal,
  });

  return {
    wants: (operation) => {
      const count = (asked.get(operation) ?? 0) + 1;
      asked.set(operation, count);
      return count <= ENOUGH || count % SAMPLE === 0;
    },
    observeAnswer: (seen) => {
      before.untilAt = clock();
      before.answers += 1;
      switches.observe(before.switches, seen, clock());
      // Whatever a switch does, it says nothing about answers without it.
      if (seen.wrap || seen.v1) return;
      observePageSize(before, seen, clock());
      const guide = findGuide(seen.operation, seen.status, seen.details);
      if (guide === undefined) return;
      observeBody(before, guide, seen, adding(!seen.projected));
    },
    observePath: ({ method, path, status, json }) => {
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
        addValue((place.body ??= emptyShape()), json, adding(true));
    },
    observations: () => {
      before.dropped += budget.dropped;
      budget.dropped = 0;
      return settleObservations(before, {
        minAnswers: MIN_ANSWERS,
        isPersonal,
        isDocumented,
        isKnownWord: templates.knows,
      });
    },
  };
}

function emptyPath(now: number): PathCounts {
  return { seen: 0, statuses: new Map(), body: undefined, firstSeenAt: now, lastSeenAt: now };
}
