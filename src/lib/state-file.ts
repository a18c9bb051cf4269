import { readFileSync } from 'node:fs';
import { fileReason } from './file-reason.ts';
import { isPlainObject, type PlainObject } from './plain-object.ts';

/**
 * Reads the text of a file in which Portico stores its state. Returns undefined if the file does not exist. Throws an
 * error that describes the problem if the file cannot be read.
 */
export function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // If the folder is missing, there is no file to read. The missing folder is reported when the state is written.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`it cannot be read: ${fileReason(error)}`, { cause: error });
  }
}

/** Parses the text of a state file. Throws an error if the text is not a JSON object. */
export function parseState(text: string): PlainObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
  return objectOf(value, 'the file');
}

/** Parses the text of a state file of version 1, and returns the other members. Throws an error if it is another one. */
export function parseVersionedState(text: string): PlainObject {
  const { version, ...state } = parseState(text);
  if (version !== 1) throw new Error('version must be 1');
  return state;
}

/** Returns a value from a state file as an object. If it is not an object, throws an error that names `place`. */
export function objectOf(value: unknown, place: string): PlainObject {
  if (!isPlainObject(value)) throw new Error(`${place} must be an object`);
  return value;
}

/** Converts an ISO 8601 string to epoch milliseconds. If it is not a valid time, throws an error that names `place`. */
export function instantOf(value: unknown, place: string): number {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) throw new Error(`${place} must be an instant`);
  return at;
}
