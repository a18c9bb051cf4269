import { isSelected } from '../arguments.ts';
import type { Peer } from '../peers/peer.ts';
import { type Effort, FULL } from './effort.ts';
import { hitScenarios } from './hit.ts';
import { keyScenarios } from './keys.ts';
import { missScenarios } from './miss.ts';
import { operationScenarios } from './operations.ts';
import { refusedScenarios } from './refused.ts';
import type { Scenario } from './scenario.ts';

/** The names of the parts that are not scenarios. */
export const OTHER_PARTS = ['warm-up', 'latency', 'start', 'memory'] as const;

/** Returns all scenarios, in the order in which they run and are reported. */
export function allScenarios(effort: Effort): readonly Scenario[] {
  return [
    ...hitScenarios(effort),
    ...refusedScenarios(effort),
    ...missScenarios(effort),
    ...keyScenarios(effort),
    ...operationScenarios(effort),
  ];
}

/** Returns the names of all parts of a run. */
export function partNames(): readonly string[] {
  return [...allScenarios(FULL).map(({ id }) => id), ...OTHER_PARTS];
}

/**
 * Returns the scenarios for a run: the selected scenarios with all their servers or, if no parts were selected, the
 * scenarios that the effort does not omit.
 */
export function wantedScenarios(effort: Effort, only: readonly string[]): readonly Scenario[] {
  const all = allScenarios(effort);
  if (only.length > 0) return all.filter(({ id }) => isSelected(id, only, partNames()));
  return all
    .filter(({ id }) => !effort.without.includes(id))
    .map((one) => withEntries(one, ({ peer }) => isIncluded(one, peer, effort)));
}

function withEntries(scenario: Scenario, isWanted: (entry: Scenario['entries'][number]) => boolean): Scenario {
  return { ...scenario, entries: scenario.entries.filter(isWanted) };
}

function isIncluded({ id }: Scenario, peer: Peer, { withoutPeers }: Effort): boolean {
  return !withoutPeers.includes(peer.id) && !withoutPeers.includes(`${id}/${peer.id}`);
}

/**
 * Returns the parts to run in addition to the scenarios. If `only` is empty, these are all parts except those that the
 * effort omits.
 */
export function wantedParts({ without }: Effort, only: readonly string[]): readonly (typeof OTHER_PARTS)[number][] {
  if (only.length > 0) return OTHER_PARTS.filter((part) => isSelected(part, only, partNames()));
  return OTHER_PARTS.filter((part) => !without.includes(part));
}

/** Returns the scenario whose servers are also measured at half their peak rates. */
export function latencyScenario(effort: Effort): Scenario {
  const hit = hitScenarios(effort).find(({ id }) => id === 'hit');
  if (hit === undefined) throw new Error('there is no scenario called hit');
  const wanted = new Set(['node-http', 'nginx-cache-tuned', 'portico-hit']);
  return withEntries(hit, ({ peer }) => wanted.has(peer.id));
}

/** Returns the scenario whose server is also measured while it warms up. */
export function warmUpScenario(effort: Effort): Scenario {
  return withEntries(latencyScenario(effort), ({ peer }) => peer.id === 'portico-hit');
}
