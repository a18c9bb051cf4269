import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { StartFault } from '../../engine/model/fault.ts';
import { fileReason } from '../../lib/file-reason.ts';
import { JsonElementsError } from '../../workbench/captures/json-elements.ts';
import {
  type CapturedExchange,
  NotARecording,
  readCapture,
  type Unreadable,
} from '../../workbench/captures/read-capture.ts';
import type { ProgramIo } from '../program.ts';

/** What `openRecording` reads. */
export const RECORDINGS =
  'name a HAR file, an access log in the common or combined format, or a log with a JSON object in each line';

/** What of it can contain responses. */
export const RESPONSES = 'name a HAR file, or a log with a JSON object in each line';

/** Names the most frequent reason why nothing was of use, with its count and, if it is known, what to do about it. */
export function mainReason<Reason extends string>(
  reasons: readonly (readonly [because: Reason, count: number])[],
  fixes: Readonly<Partial<Record<Reason, string>>>,
): string {
  const [because, count] = reasons.reduce((most, one) => (one[1] > most[1] ? one : most));
  const fix = fixes[because];
  return `${because} ×${count}${fix === undefined ? '' : `; ${fix}`}`;
}

/** A recording that is read. */
interface OpenRecording {
  readonly entries: AsyncGenerator<CapturedExchange | Unreadable>;
  /** Returns why the recording could not be read to its end. What precedes the damaged place counts. */
  failure(): string | undefined;
}

/**
 * Opens the recording that `--from` names; `-` is the standard input. Nothing is read yet. `wanted` says which kinds of
 * files are of use.
 */
export function openRecording(
  name: string,
  { cwd, stdin }: Pick<ProgramIo, 'cwd' | 'stdin'>,
  apiPath: string,
  wanted: string,
): OpenRecording {
  const fault = (message: string) => new StartFault([{ source: '--from', pointer: '', message, suggestion: wanted }]);
  const file = name === '-' ? (stdin as AsyncIterable<Buffer, undefined>) : resolve(cwd, name);
  if (typeof file === 'string' && !existsSync(file)) throw fault(`${name} does not exist`);
  let failure: string | undefined;
  async function* untilDamaged(): OpenRecording['entries'] {
    let isBegun = false;
    try {
      for await (const entry of readCapture(file, apiPath)) {
        isBegun = true;
        yield entry;
      }
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === undefined) throw error;
      if (!isBegun) throw fault(`${name} ${reason}`);
      failure = `${name} ${reason}`;
    }
  }
  return { entries: untilDamaged(), failure: () => failure };
}

/** Returns why a recording cannot be read if it is due to the file. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof JsonElementsError || error instanceof NotARecording) return error.message;
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return String(error.code).startsWith('Z_') ? 'is incomplete or damaged' : `cannot be read: ${fileReason(error)}`;
}
