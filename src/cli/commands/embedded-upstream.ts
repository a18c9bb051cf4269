import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Place, Settings } from '../../config/settings.ts';
import { systemClock } from '../../lib/clock.ts';
import { StartFault } from '../../model/fault.ts';
import { type ReferenceServer, startReferenceServer } from '../../reference/start-reference-server.ts';
import { IN_MEMORY } from '../../files/replace-file.ts';
import { misbehaviourFaults } from '../config-flags.ts';

/** Where the embedded upstream listens: a free loopback port unless something is said. */
export interface EmbeddedPlace {
  readonly host?: string;
  readonly port?: number;
  readonly basePath?: string;
}

/** The places to name in faults of the embedded upstream. */
export interface EmbeddedFaultPlaces {
  readonly db: Place;
  readonly faults: Place;
}

/** Starts the reference server; throws StartFault for a database that cannot be used and for faults it does not know. */
export async function startEmbeddedUpstream(
  reference: Settings['reference'],
  places: EmbeddedFaultPlaces,
  place: EmbeddedPlace = {},
): Promise<ReferenceServer> {
  const { db, seed, faults, issueTrackerUrl } = reference;
  const misspelt = misbehaviourFaults(faults, places.faults);
  if (misspelt.length > 0) throw new StartFault(misspelt);
  try {
    if (db !== IN_MEMORY) mkdirSync(dirname(db), { recursive: true });
    return await startReferenceServer({
      ...place,
      db,
      seed,
      chaos: faults,
      clock: systemClock,
      ...(issueTrackerUrl !== undefined && { issueTrackerUrl }),
    });
  } catch (error) {
    throw startFault(error, db, places.db) ?? error;
  }
}

function startFault(error: unknown, db: string, place: Place): StartFault | undefined {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code !== 'ERR_SQLITE_ERROR' && syscall !== 'mkdir') return undefined;
  const suggestion = 'choose another file, or :memory:, with --db or PORTICO_DB';
  return new StartFault([{ ...place, message: `${db} cannot be used: ${message}`, suggestion }]);
}
