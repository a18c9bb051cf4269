import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces the contents of a file atomically, so that no reader sees a partial file, and creates its folder. `mode`
 * sets its permissions. If the text is no longer wanted once it has been written, the file is left unchanged.
 */
export async function replaceFile(
  file: string,
  text: string,
  mode: number,
  isWanted: () => boolean = () => true,
): Promise<void> {
  const draft = draftOf(file);
  makeFolder(dirname(file));
  try {
    await writeFile(draft, text, { mode, flag: 'wx', flush: true });
    // The check and the rename must not be interrupted, so the rename is synchronous.
    if (isWanted()) renameSync(draft, file);
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/** Does the same synchronously, for the end of the process. */
export function replaceFileSync(file: string, text: string, mode: number): void {
  const draft = draftOf(file);
  makeFolder(dirname(file));
  try {
    writeFileSync(draft, text, { mode, flag: 'wx', flush: true });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Returns an unpredictable name beside a file for unfinished data, so that no one can place a link to another file
 * there first.
 */
const draftOf = (file: string): string => `${file}.${randomBytes(6).toString('hex')}.tmp`;

/**
 * Creates a folder and its parents, accessible to this user only. It creates them one at a time, because Node's
 * recursive option never ends under `/proc` and reports the wrong folder on a read-only file system.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Creates the parent folder of a file and checks that it is writable. Returns the error code if this fails, otherwise
 * undefined.
 */
export async function whyUnwritable(file: string): Promise<string | undefined> {
  if (file === IN_MEMORY) return undefined;
  const tried = draftOf(file);
  try {
    makeFolder(dirname(file));
    await writeFile(tried, '', { mode: 0o600, flag: 'wx' });
    await rm(tried, { force: true });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

/** The path that means no file: its data is lost when the process ends. */
export const IN_MEMORY = ':memory:';
