import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OverlayAction } from '../../../../src/engine/contract/overlay/read-overlay.ts';
import { type Fault, StartFault } from '../../../../src/engine/model/fault.ts';
import { tempFolder } from '../../../builders/temp-folder.ts';

/** Creates a file that contains this text and is deleted after the tests. */
export function fileWith(text: string, name = 'overlay.yaml'): string {
  const file = join(tempFolder(), name);
  writeFileSync(file, text);
  return file;
}

/** Creates a file that contains an overlay with these actions. */
export function overlayFile(...actions: readonly OverlayAction[]): string {
  return fileWith(JSON.stringify({ overlay: '1.0.0', info: { title: 'Test', version: '1' }, actions }));
}

/** Returns the configuration errors in the StartFault that `run` throws, or an empty list if `run` succeeds. */
export function faultsOf(run: () => unknown): readonly Fault[] {
  try {
    run();
  } catch (error) {
    if (error instanceof StartFault) return error.faults;
    throw error;
  }
  return [];
}
