import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Place, Settings } from '../config/settings.ts';
import { systemClock } from '../lib/clock.ts';
import { StartFault } from '../model/fault.ts';
import { FAULT_GRAMMAR } from '../reference/faults/fault-names.ts';
import { FaultSyntaxError } from '../reference/faults/parse-faults.ts';
import { type ReferenceServer, startReferenceServer } from '../reference/start-reference-server.ts';

/** Where the embedded upstream listens: a free loopback port unless something is said. */
export interface EmbeddedPlace {
  readonly host?: string;
  readonly port?: number;
  readonly basePath?: string;
}

/** Starts the reference server as the configuration says; throws StartFault at `faultsPlace` for a fault it does not know. */
export async function startEmbeddedUpstream(
  reference: Settings['reference'],
  faultsPlace: Place,
  place: EmbeddedPlace = {},
): Promise<ReferenceServer> {
  const { db, seed, faults, issueTrackerUrl } = reference;
  if (db !== ':memory:') mkdirSync(dirname(db), { recursive: true });
  try {
    return await startReferenceServer({
      ...place,
      db,
      seed,
      faults,
      clock: systemClock,
      ...(issueTrackerUrl !== undefined && { issueTrackerUrl }),
    });
  } catch (error) {
    if (!(error instanceof FaultSyntaxError)) throw error;
    const message = error.problems.join('; ');
    throw new StartFault([{ ...faultsPlace, message, suggestion: `a fault is written ${FAULT_GRAMMAR}` }]);
  }
}
