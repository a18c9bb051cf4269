import type { Logger } from 'pino';
import type { Settings } from './settings.ts';
import { type StateFile, warnIfInMemory } from './state-files.ts';

/** Writes a state to its file, one write after the other. */
export interface StateWriter {
  /** Warns if the state cannot be stored. Throws a StartFault if a configured file cannot be written. */
  check(): Promise<void>;
  /** Notes that the state has changed, so that `writeChanges` writes it. */
  changed(): void;
  /** Writes the state as it is when earlier writes have ended. Returns whether it is stored. Never rejects. */
  write(): Promise<boolean>;
  /** Writes the state if it has changed since the last write, or if that has failed. */
  writeChanges(): Promise<unknown>;
}

interface WriterParts extends StateFile {
  readonly settings: Pick<Settings, 'originOf' | 'placeOf'>;
  readonly logger: Logger;
  /** The name of the feature, and what is stored, in the plural. */
  readonly name: string;
  readonly what: string;
  /** Replaces the file. */
  readonly save: () => Promise<void>;
}

/** Creates a writer. A failure is logged once, until a write succeeds again. */
export function createStateWriter({ settings, logger, name, what, save, ...at }: WriterParts): StateWriter {
  let isUnsaved = false;
  let isStored = true;
  let writing = Promise.resolve();
  const writeNow = async () => {
    isUnsaved = false;
    try {
      await save();
      isStored = true;
    } catch (error) {
      isUnsaved = true;
      if (isStored) logger.error({ err: error }, `${what} cannot be stored`);
      isStored = false;
    }
  };
  const write = () => (writing = writing.then(writeNow)).then(() => isStored);
  return {
    async check() {
      await warnIfInMemory(settings, at, { logger, name, what });
    },
    changed() {
      isUnsaved = true;
    },
    write,
    writeChanges: () => (isUnsaved ? write() : writing),
  };
}
