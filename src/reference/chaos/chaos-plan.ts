import { setTimeout as delay } from 'node:timers/promises';
import { createSeededRandom, type SeededRandom } from '../../lib/seeded-random.ts';
import { type ChaosName, DRIFT_KINDS } from './chaos-kinds.ts';

/** A parsed value of `--fault`. */
export interface ChaosRule {
  readonly name: ChaosName;
  readonly parameter?: string;
  /**
   * The requests to match: an operation number, or a pattern for the path and query. If undefined, the rule matches
   * every request.
   */
  readonly target?: number | RegExp;
  /** The share of matching requests that the rule affects, greater than 0 and at most 1. */
  readonly share: number;
}

/** Selects the chaos rules that apply to a request. */
export interface ChaosPlan {
  /**
   * Returns the rules that apply to a request, in their configured order. `url` consists of the path below the base
   * path and the query.
   */
  readonly draw: (operation: number | undefined, url: string) => readonly ChaosRule[];
}

/**
 * Creates a plan. Each rule has its own sequence of random numbers for the requests that it matches, so the same seed
 * and the same requests always produce the same chaos.
 */
export function createChaosPlan(rules: readonly ChaosRule[], seed: number): ChaosPlan {
  const seeded = rules.map((rule, index) => ({ rule, random: createSeededRandom(seed * 31 + index + 1) }));
  return {
    draw: (operation, url) =>
      seeded
        .filter(({ rule, random }) => matches(rule, operation, url) && random.chance(rule.share))
        .map(({ rule, random }) => resolveDrift(rule, random)),
  };
}

function matches({ target }: ChaosRule, operation: number | undefined, url: string): boolean {
  if (target === undefined) return true;
  return typeof target === 'number' ? target === operation : target.test(url);
}

function resolveDrift(rule: ChaosRule, random: SeededRandom): ChaosRule {
  return rule.name === 'drift' ? { ...rule, name: random.pick(DRIFT_KINDS) } : rule;
}

const DEFAULT_DELAY_MS = 2000;

/** Waits for the total delay of the `slow` rules. Resolves to false if the signal aborts the wait. */
export async function waitForSlowRules(rules: readonly ChaosRule[], signal: AbortSignal): Promise<boolean> {
  for (const { name, parameter } of rules) {
    if (name !== 'slow') continue;
    try {
      await delay(Number(parameter ?? DEFAULT_DELAY_MS), undefined, { signal });
    } catch {
      return false;
    }
  }
  return true;
}
