import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileReason } from './file-reason.ts';

/**
 * Replaces a file's contents atomically, so that readers never see a partial file. Creates the file's folder if it does
 * not exist. `mode` sets the file's permissions. If `isWanted` returns false after the new text has been written to a
 * temporary file, the file is not replaced.
 */
export async function replaceFile(file: string, text: string, mode: number, isWanted = () => true): Promise<void> {
  const draft = draftOf(file);
  makeFolder(dirname(file));
  try {
    await writeFile(draft, text, { mode, flag: 'wx', flush: true });
    // The rename is synchronous, so no other code can run between the check and the rename.
    if (isWanted()) renameSync(draft, file);
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/** Like {@link replaceFile}, but synchronous. Can be used during shutdown. */
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

/** Returns a path for a temporary file in the same folder. Other users cannot guess it and place a link there. */
const draftOf = (file: string): string => `${file}.${randomBytes(6).toString('hex')}.tmp`;

/**
 * Creates a folder and any missing parents, accessible only to this user. Folders are created one at a time, because
 * Node's recursive option never returns under `/proc` and reports the wrong folder on a read-only file system.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the folder in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Creates a file's folder. Returns the reason in words if this fails or the folder is not writable. */
export async function whyUnwritable(file: string): Promise<string | undefined> {
  if (file === IN_MEMORY) return undefined;
  const tried = draftOf(file);
  try {
    makeFolder(dirname(file));
    await writeFile(tried, '', { mode: 0o600, flag: 'wx' });
    await rm(tried, { force: true });
    return undefined;
  } catch (error) {
    return fileReason(error);
  }
}

/** The path that represents memory instead of a file. Data in memory is lost when the process ends. */
export const IN_MEMORY = ':memory:';
