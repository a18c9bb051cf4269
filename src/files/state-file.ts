import { readFileSync } from 'node:fs';
import { isPlainObject, type PlainObject } from '../lib/plain-object.ts';

/**
 * Reads the text of a file in which Portico stores its state. Returns undefined if there is no such file. Throws an
 * error that describes the problem if it cannot be read.
 */
export function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // If the folder is missing, there is no file to read, and the problem is reported when the state is written.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`it cannot be read (${code ?? 'unknown'})`, { cause: error });
  }
}

/** Parses the text of a state file. Throws an error if it is not a JSON object. */
export function parseState(text: string): PlainObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
  return objectOf(value, 'the file');
}

/** Returns a value of a state file as an object. Throws an error that names `place` if it is not an object. */
export function objectOf(value: unknown, place: string): PlainObject {
  if (!isPlainObject(value)) throw new Error(`${place} must be an object`);
  return value;
}

/** Returns an ISO 8601 text as epoch milliseconds. Throws an error that names `place` if it is not an instant. */
export function instantOf(value: unknown, place: string): number {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) throw new Error(`${place} must be an instant`);
  return at;
}
