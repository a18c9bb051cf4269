import { randomBytes } from 'node:crypto';
import type { PlainObject } from './plain-object.ts';
import { IN_MEMORY, replaceFile } from './replace-file.ts';
import { parseVersionedState, readIfExists } from './state-file.ts';

const KEY_BYTES = 32;

/** What a file with a key contains. */
interface KeyedState {
  /** The secret with which a gateway alone names callers in the file. */
  readonly key: Buffer;
  /** Undefined if there is no file. */
  readonly state: PlainObject | undefined;
}

/**
 * Reads a state file that contains a key. If there is no file, makes a new key. Throws an error that describes the
 * problem if the file is invalid.
 */
export function readKeyedState(file: string): KeyedState {
  const text = file === IN_MEMORY ? undefined : readIfExists(file);
  if (text === undefined) return { key: randomBytes(KEY_BYTES), state: undefined };
  const { key, ...state } = parseVersionedState(text);
  const bytes = Buffer.from(typeof key === 'string' ? key : '', 'base64url');
  if (bytes.length !== KEY_BYTES) throw new Error(`key must be ${KEY_BYTES} bytes in base64url`);
  return { key: bytes, state };
}

/** Replaces the file. Only its owner may read it, because whoever has the key can find out whether a name is in it. */
export async function writeKeyedState(file: string, key: Buffer, state: object): Promise<void> {
  if (file === IN_MEMORY) return;
  await replaceFile(file, `${JSON.stringify({ version: 1, key: key.toString('base64url'), ...state })}\n`, 0o600);
}
