import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { IN_MEMORY, makeFolder } from '../../lib/replace-file.ts';
import { readIfExists } from '../../lib/state-file.ts';
import { type AuditEntry, parseAuditEntry } from './audit-entry.ts';

/** The size, in bytes, at which the audit trail is moved to a second file, whose previous content is overwritten. */
export const MAX_TRAIL_BYTES = 1_048_576;

/** The maximum number of entries to read at startup and show to operators. */
export const SHOWN_ENTRIES = 500;

/** The names of the audit trail's files. */
export interface TrailFiles {
  readonly current: string;
  readonly previous: string;
}

/** Returns the names of the audit trail's files. Undefined if it is stored in memory only. */
export function trailFilesOf(file: string): TrailFiles | undefined {
  return file === IN_MEMORY ? undefined : { current: file, previous: `${file.replace(/\.jsonl$/, '')}.1.jsonl` };
}

/** Reads the latest entries of the audit trail, oldest first. Damaged lines are skipped. */
export function readTrailFiles(files: TrailFiles | undefined): readonly AuditEntry[] {
  if (files === undefined) return [];
  const lines = [files.previous, files.current].flatMap((one) => (readIfExists(one) ?? '').split('\n'));
  return lines
    .slice(-2 * SHOWN_ENTRIES)
    .flatMap((line) => parseAuditEntry(line) ?? [])
    .slice(-SHOWN_ENTRIES);
}

/** Appends a line to the audit trail. If the file has become too large, moves it to the second file. */
export async function appendToTrail({ current, previous }: TrailFiles, line: string, maxBytes: number): Promise<void> {
  makeFolder(dirname(current));
  const handle = await open(current, 'a+', 0o600);
  let isFull: boolean;
  try {
    const { size } = await handle.stat();
    // A crash may have left an incomplete last line. The next entry must start on a new line.
    const { buffer } = size === 0 ? {} : await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    const start = buffer === undefined || buffer.toString() === '\n' ? '' : '\n';
    await handle.appendFile(`${start}${line}\n`);
    await handle.sync();
    isFull = size + line.length >= maxBytes;
  } finally {
    await handle.close();
  }
  if (isFull) await rename(current, previous);
}
