import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUpAfterFile } from './clean-up.ts';

/** Creates a folder that is deleted after the last test in the file. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-test-'));
  cleanUpAfterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
