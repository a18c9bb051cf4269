import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A complete run stores more than 5,000 files when the cache is empty, so this is enough for several runs. */
const MAX_FILES = 20_000;

/**
 * Removes the parts of Node's compile cache that this version of Node does not use, and those that have become too
 * large. Vitest imports each test file from a new URL in every run, so every run stores files that no later run reads.
 * These files cannot be identified, because their names are hashes, so a part that is too large is removed completely.
 */
export function limitCompileCache(folder: string, maxFiles = MAX_FILES): void {
  for (const name of namesIn(folder)) {
    const part = join(folder, name);
    // Node names each part after its version, the processor and its flags.
    const isUsed = name.startsWith(`${process.version}-${process.arch}-`);
    if (!isUsed || namesIn(part).length > maxFiles) rmSync(part, { recursive: true, force: true, maxRetries: 3 });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Another process has removed it, or it does not exist yet.
    return [];
  }
}
