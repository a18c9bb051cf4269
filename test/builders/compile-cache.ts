import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A complete run with an empty cache stores more than 5,000 files, so this is enough for several runs. */
const MAX_FILES = 20_000;

/**
 * Removes the parts of Node's compile cache that this version of Node does not use, and those that have grown too
 * large. In every run, Vitest imports each test file from a new URL, so every run stores files that no later run reads.
 * Their names are hashes, which do not identify them, so an oversized part is removed completely.
 */
export function limitCompileCache(folder: string, maxFiles = MAX_FILES): void {
  for (const name of namesIn(folder)) {
    const part = join(folder, name);
    // Each part of the cache is named after the Node version, the processor and the flags.
    const isUsed = name.startsWith(`${process.version}-${process.arch}-`);
    if (!isUsed || namesIn(part).length > maxFiles) rmSync(part, { recursive: true, force: true, maxRetries: 3 });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The part does not exist yet, or another process has removed it.
    return [];
  }
}
