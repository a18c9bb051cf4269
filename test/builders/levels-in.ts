import type { RunningFeatures } from '../../src/engine/run-features.ts';
import type { OpenLevels } from '../../src/features/levels/open-levels.ts';

/** Returns the store of a gateway's levels, and what changes it. */
export function levelsIn({
  services,
}: {
  readonly services: { readonly features: Pick<RunningFeatures, 'levels'> };
}): OpenLevels {
  return services.features.levels as unknown as OpenLevels;
}
