import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { OverlayAction } from '../../../src/contract/overlay/read-overlay.ts';
import { type Fault, StartFault } from '../../../src/model/fault.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** A file with this text, gone after the tests. */
export function fileWith(text: string, name = 'overlay.yaml'): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-overlay-'));
  folders.push(folder);
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** A file with an overlay of these actions. */
export function overlayFile(...actions: readonly OverlayAction[]): string {
  return fileWith(JSON.stringify({ overlay: '1.0.0', info: { title: 'Test', version: '1' }, actions }));
}

/** The faults that something throws; none when it does not. */
export function faultsOf(run: () => unknown): readonly Fault[] {
  try {
    run();
  } catch (error) {
    if (error instanceof StartFault) return error.faults;
    throw error;
  }
  return [];
}
