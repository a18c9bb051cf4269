import { StartFault } from '../../engine/model/fault.ts';
import { fileReason } from '../../lib/file-reason.ts';
import { JsonElementsError } from '../../workbench/captures/json-elements.ts';
import { NotAFile } from '../../workbench/captures/read-capture.ts';

const RECORDINGS = 'name a HAR file, an access log, or a log with a JSON object in each line';

/** Returns the error for a recording that does not exist or is not one. */
export const recordingFault = (name: string, message: string): StartFault =>
  new StartFault([{ source: '--from', pointer: '', message: `${name} ${message}`, suggestion: RECORDINGS }]);

/** Returns what to throw if a recording cannot be read: an error for the user if it is due to the file. */
export function readingFault(name: string, error: unknown): unknown {
  if (error instanceof JsonElementsError || error instanceof NotAFile) return recordingFault(name, error.message);
  if (error instanceof Error && 'code' in error) return recordingFault(name, `cannot be read: ${fileReason(error)}`);
  return error;
}
