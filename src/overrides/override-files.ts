import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { IN_MEMORY, makeFolder, replaceFile } from '../files/replace-file.ts';
import { readIfExists } from '../files/state-file.ts';
import type { Override } from './override.ts';
import { formatEvent, formatOverrides, type OverrideEvent, parseEvent, parseOverrides } from './overrides-text.ts';

/** Stores the active overrides and the audit trail so that they survive restarts. */
export interface OverrideFiles {
  /** Appends an event to the audit trail and replaces the active overrides, in the background. */
  record(event: OverrideEvent, active: readonly Override[]): void;
  /** Replaces the active overrides in the background, after other gateways have changed them. */
  replace(active: readonly Override[]): void;
  /** Waits until everything has been written or has failed. Returns false if the latest write failed. */
  written(): Promise<boolean>;
}

/** The contents of the files at startup. */
export interface StoredOverrides {
  readonly active: readonly Override[];
  /** The latest events, oldest first. */
  readonly events: readonly OverrideEvent[];
}

/** The size at which the audit trail is moved to a second file, in bytes. The previous second file is deleted. */
export const MAX_TRAIL_BYTES = 1_048_576;

/** The number of events that are read at startup and shown to operators. */
export const SHOWN_EVENTS = 100;

/** Reads the stored overrides. Throws an error if they are invalid. Damaged lines of the audit trail are skipped. */
export function readOverrideFiles(file: string): StoredOverrides {
  if (file === IN_MEMORY) return { active: [], events: [] };
  const text = readIfExists(file);
  const { current, previous } = trailOf(file);
  const lines = [previous, current].flatMap((one) => (readIfExists(one) ?? '').split('\n'));
  const events = lines.flatMap((line) => parseEvent(line) ?? []).slice(-SHOWN_EVENTS);
  return { active: text === undefined ? [] : parseOverrides(text), events };
}

/** Creates the writer. `onError` is called for each failed write; the overrides then stay in memory. */
export function createOverrideFiles(
  file: string,
  onError: (error: unknown) => void,
  maxTrailBytes = MAX_TRAIL_BYTES,
): OverrideFiles {
  let writing = Promise.resolve(true);
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  };
  return {
    record(event, active) {
      if (file === IN_MEMORY) return;
      writing = writing.then(async () => {
        // The event is written first: an override without an entry in the audit trail must not survive a crash.
        const appended = await attempt(() => appendEvent(trailOf(file), formatEvent(event), maxTrailBytes));
        return (await attempt(() => replaceFile(file, formatOverrides(active), 0o600))) && appended;
      });
    },
    replace(active) {
      if (file === IN_MEMORY) return;
      writing = writing.then(() => attempt(() => replaceFile(file, formatOverrides(active), 0o600)));
    },
    written: () => writing,
  };
}

/** Returns the names of the audit trail's files, which are next to the file of active overrides. */
export function trailOf(file: string): { readonly current: string; readonly previous: string } {
  const base = file.replace(/\.json$/, '');
  return { current: `${base}-audit.jsonl`, previous: `${base}-audit.1.jsonl` };
}

async function appendEvent(
  { current, previous }: ReturnType<typeof trailOf>,
  line: string,
  maxBytes: number,
): Promise<void> {
  makeFolder(dirname(current));
  const handle = await open(current, 'a+', 0o600);
  let isFull: boolean;
  try {
    const { size } = await handle.stat();
    // A crash may have left an incomplete last line, which must not damage the next one.
    const { buffer } = size === 0 ? {} : await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    const start = buffer === undefined || buffer.toString() === '\n' ? '' : '\n';
    await handle.appendFile(start + line);
    await handle.sync();
    isFull = size + line.length >= maxBytes;
  } finally {
    await handle.close();
  }
  if (isFull) await rename(current, previous);
}
