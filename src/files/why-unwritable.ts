import { rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { draftOf } from './draft-of.ts';
import { IN_MEMORY } from './in-memory.ts';
import { makeFolder } from './make-folder.ts';

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
