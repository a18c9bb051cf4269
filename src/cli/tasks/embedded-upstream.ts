import type { ReferenceOptions } from '../../profile/reference-options.ts';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Place } from '../../engine/config/settings.ts';
import { systemClock } from '../../lib/clock.ts';
import { StartFault } from '../../engine/model/fault.ts';
import { type ReferenceServer, startReferenceServer } from '../../reference/start-reference-server.ts';
import { fileReason } from '../../lib/file-reason.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { chaosErrors } from '../flags/reference-flags.ts';

/** The address on which the embedded upstream listens. The default is a free port on the loopback interface. */
interface EmbeddedListen {
  readonly host?: string;
  readonly port?: number;
  readonly basePath?: string;
}

/** The configuration locations named in error messages about the embedded upstream. */
interface EmbeddedConfigPlaces {
  readonly db: Place;
  readonly faults: Place;
}

/** Starts the reference server. Throws a StartFault if the database is unusable or a chaos rule is invalid. */
export async function startEmbeddedUpstream(
  reference: Readonly<Omit<ReferenceOptions, 'faults'>> & { readonly faults: readonly string[] },
  places: EmbeddedConfigPlaces,
  listen: EmbeddedListen = {},
): Promise<ReferenceServer> {
  const { db, seed, complete, faults, issueTrackerUrl } = reference;
  const errors = chaosErrors(faults, places.faults);
  if (errors.length > 0) throw new StartFault(errors);
  try {
    if (db !== IN_MEMORY) mkdirSync(dirname(db), { recursive: true });
    return await startReferenceServer({
      ...listen,
      db,
      seed,
      complete,
      chaos: faults,
      clock: systemClock,
      ...(issueTrackerUrl !== undefined && { issueTrackerUrl }),
    });
  } catch (error) {
    throw startFault(error, db, places.db) ?? error;
  }
}

function startFault(error: unknown, db: string, place: Place): StartFault | undefined {
  const { code, syscall, errstr } = error as NodeJS.ErrnoException & { readonly errstr?: string };
  if (code !== 'ERR_SQLITE_ERROR' && syscall !== 'mkdir') return undefined;
  const reason = errstr ?? fileReason(error);
  const suggestion = 'choose another file, or :memory:, with --db or PORTICO_DB';
  return new StartFault([{ ...place, message: `${db} cannot be used: ${reason}`, suggestion }]);
}
