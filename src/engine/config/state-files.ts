import type { Logger } from 'pino';
import { whyUnwritable } from '../../lib/replace-file.ts';
import { StartFault } from '../model/fault.ts';
import type { Settings } from './settings.ts';

/** A file in which the gateway stores its state, and the JSON pointer to the key that names it. */
export interface StateFile {
  readonly file: string;
  readonly pointer: string;
}

/**
 * Reads a state file at startup. Throws a StartFault if the file is invalid. In the error message, `kind` describes the
 * file, and `start` describes the consequence of starting without it.
 */
export function readStateFile<T>(
  settings: Pick<Settings, 'placeOf'>,
  { file, pointer }: StateFile,
  { kind, start }: { readonly kind: string; readonly start: string },
  read: (file: string) => T,
): T {
  try {
    return read(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    const message = `${file} is not a valid ${kind}: ${reason}`;
    const suggestion = `correct the file, or remove it to start ${start}`;
    throw new StartFault([{ ...settings.placeOf(pointer), message, suggestion }]);
  }
}

/**
 * Returns the reason why a default state file cannot be written, or undefined if it can be written. Throws a StartFault
 * if a configured file cannot be written.
 */
export async function whyNotStored(
  settings: Pick<Settings, 'originOf' | 'placeOf'>,
  { file, pointer }: StateFile,
): Promise<string | undefined> {
  const reason = await whyUnwritable(file);
  if (reason === undefined || settings.originOf(pointer) === 'default') return reason;
  const message = `${file} cannot be written: ${reason}`;
  const suggestion = 'set a file in a writable folder, or :memory:';
  throw new StartFault([{ ...settings.placeOf(pointer), message, suggestion }]);
}

/**
 * Logs a warning if a state file cannot be written, and returns the reason, as `whyNotStored` does. In the log, `name`
 * is the name of the feature, and `what` is what is stored, in the plural.
 */
export async function warnIfInMemory(
  settings: Pick<Settings, 'originOf' | 'placeOf'>,
  at: StateFile,
  { logger, name, what }: { readonly logger: Logger; readonly name: string; readonly what: string },
): Promise<string | undefined> {
  const reason = await whyNotStored(settings, at);
  if (reason !== undefined) logger.warn({ [name]: { file: at.file, reason } }, `${what} are stored in memory only`);
  return reason;
}
