import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Makes a folder that is there until the end of the file's tests. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
