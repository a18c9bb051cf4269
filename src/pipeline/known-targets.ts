import { LRUCache } from 'lru-cache';
import type { ParameterValues } from '../contract/parameter-values.ts';
import type { CheckVerdict } from '../model/trace.ts';
import type { AskedPage } from '../paging/asked-page.ts';
import type { Plan } from './plan.ts';
import type { PassingVerdict } from './undocumented-policy.ts';

/** What a target without a fault was found to ask for; it depends on its text and the contract alone. */
export type KnownTarget = KnownOperation | KnownPassage;

/** A target that the policy lets past the contract. */
export interface KnownPassage {
  readonly plan: undefined;
  readonly verdict: PassingVerdict;
}

/** A target of an operation. */
export interface KnownOperation {
  readonly plan: Plan;
  /** The exact target that would be sent upstream. */
  readonly target: string;
  readonly asked: AskedPage;
  /** The decoded parameters, which depend on the target's text alone; undefined where they are hardly ever asked for. */
  readonly values?: (() => ParameterValues) | undefined;
  /** What the check of requests said. */
  readonly requests: CheckVerdict;
}

/** Remembers by their text what targets ask for, so that one that was answered from memory before is not read again. */
export interface KnownTargets {
  recall(rawTarget: string): KnownTarget | undefined;
  remember(rawTarget: string, known: KnownTarget): void;
  /** Forgets everything, because a plan was replaced. */
  clear(): void;
  readonly size: number;
}

// About what an entry takes beside its texts.
const ENTRY_BYTES = 400;
const VALUES_BYTES = 1000;

/** Creates an empty memory of about `maxBytes`; the targets that were not asked for the longest time are forgotten first. */
export function createKnownTargets(maxBytes: number): KnownTargets {
  const targets = new LRUCache<string, KnownTarget>({
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: (known, rawTarget) =>
      ENTRY_BYTES +
      rawTarget.length +
      (known.plan ? known.target.length + known.asked.listTarget.length + (known.values ? VALUES_BYTES : 0) : 0),
  });
  return {
    recall: (rawTarget) => targets.get(rawTarget),
    remember: (rawTarget, known) => void targets.set(rawTarget, known),
    clear: () => targets.clear(),
    get size() {
      return targets.size;
    },
  };
}
