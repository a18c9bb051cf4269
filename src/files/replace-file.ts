import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { draftOf } from './draft-of.ts';
import { makeFolder } from './make-folder.ts';

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
