import type { Settings } from '../config/settings.ts';
import { IN_MEMORY } from '../files/in-memory.ts';
import { readLadderFile } from '../ladder/ladder-file.ts';
import type { LadderState } from '../ladder/ladder-step.ts';

/**
 * What to say where ladder.file holds steps of another contract than the one that is configured here: most often a
 * shell without the gateway's environment. Undefined where they belong together.
 */
export function otherContract({ ladder: { file } }: Settings, state: LadderState): string | undefined {
  const kept = file === IN_MEMORY ? undefined : readLadderFile(file);
  if (kept === undefined || kept.contract === state.contract || kept.steps.length === 0) return undefined;
  return (
    `${file} holds what the ladder moved under another contract (${kept.contract}, here ${state.contract}): ` +
    'run this with the configuration and the environment of the gateway (PORTICO_CONFIG, UPSTREAM_URL, PORTICO_MODE).'
  );
}
