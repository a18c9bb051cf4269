import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Puts a text in the place of a file at once, so that nobody ever reads half of it, and makes its folder. `mode` are its
 * permissions. When it turns out at the end not to be wanted any more, the file stays as it was.
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
    // Nothing may come between the question and the move, so the move is not waited for elsewhere.
    if (isWanted()) renameSync(draft, file);
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/** The same for the end of the process, when nothing can be waited for. */
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

/** A name beside a file for what is not finished. Nobody else can guess it, and put a link to another file there first. */
const draftOf = (file: string): string => `${file}.${randomBytes(6).toString('hex')}.tmp`;

/**
 * Makes a folder and those above it, for this user alone. One at a time, because Node's own way never ends under `/proc`,
 * and tells of the wrong folder on a file system that is read-only.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been quicker.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Makes the folder of a file and tries to write there; answers the code of why that fails, or undefined. */
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

/** The path that stands for no file: what would be kept in it ends with the process. */
export const IN_MEMORY = ':memory:';
