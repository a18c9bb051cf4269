import { readFileSync, statSync } from 'node:fs';
import { IN_MEMORY, replaceFile, replaceFileSync } from '../../files/replace-file.ts';
import { emptyObservations, type Observations } from './observations.ts';
import { MAX_OBSERVATIONS_BYTES, readObservations, writeObservations } from './observations-text.ts';
import { StartFault } from '../../model/fault.ts';

/** The place in the configuration that specifies the file. */
interface ObservationPlace {
  readonly source: string;
  readonly pointer: string;
}

/**
 * Reads an observations file. Returns empty observations if the file does not exist. Throws `StartFault` if it is
 * invalid.
 */
export function readObservationFile(file: string, place: ObservationPlace, now: number): Observations {
  if (file === IN_MEMORY) return emptyObservations(now);
  const text = textOf(file, place);
  if (text === undefined) return emptyObservations(now);
  const read = readObservations(text);
  if ('problem' in read) throw broken(place, `${file} ${read.problem}`);
  return read.observations;
}

function textOf(file: string, place: ObservationPlace): string | undefined {
  try {
    if (statSync(file).size > MAX_OBSERVATIONS_BYTES)
      throw broken(place, `${file} has more than ${MAX_OBSERVATIONS_BYTES} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof StartFault) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'ENOENT') return undefined;
    throw broken(place, `${file} cannot be read (${code})`);
  }
}

function broken(place: ObservationPlace, message: string): StartFault {
  const suggestion = 'move the file away to start without observations';
  return new StartFault([{ ...place, message: `learn.file: ${message}`, suggestion }]);
}

/** Writes an observations file at intervals so that requests never wait for the file. */
interface ObservationWriter {
  /** Schedules a write within the next few seconds. */
  changed(): void;
  /** Writes pending observations and stops the writer. */
  close(): void;
}

const PAUSE_MS = 5000;

/** Creates a writer that replaces the file atomically, so a crash leaves the previous file intact. */
export function createObservationWriter(
  file: string,
  observations: () => Observations,
  onFailure: (message: string) => void,
): ObservationWriter {
  if (file === IN_MEMORY) return { changed: () => undefined, close: () => undefined };
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const serialize = (): string | undefined => {
    const text = writeObservations(observations());
    if (text === undefined) onFailure(`the observations have more than ${MAX_OBSERVATIONS_BYTES} bytes`);
    return text;
  };
  const failed = (error: unknown) => onFailure(error instanceof Error ? error.message : 'unknown error');
  const write = async (): Promise<void> => {
    const text = serialize();
    // If the writer has been closed in the meantime, it has already written newer observations.
    if (text !== undefined) await replaceFile(file, text, 0o600, () => !closed).catch(failed);
  };
  return {
    changed: () => {
      if (closed) return;
      timer ??= setTimeout(() => {
        void write().finally(() => {
          timer = undefined;
        });
      }, PAUSE_MS).unref();
    },
    close: () => {
      const waiting = timer !== undefined && !closed;
      closed = true;
      clearTimeout(timer);
      const text = waiting ? serialize() : undefined;
      if (text === undefined) return;
      try {
        replaceFileSync(file, text, 0o600);
      } catch (error) {
        failed(error);
      }
    },
  };
}
