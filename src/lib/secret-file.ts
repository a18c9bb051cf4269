import { readFileSync, statSync } from 'node:fs';
import { fileReason } from './file-reason.ts';
import { isPlaceholderSecret } from './placeholder.ts';

/** The secret in a file, or the reason why it cannot be read. The reason never contains the file's text. */
type SecretReading = { readonly text: string } | { readonly fault: string };

/**
 * Reads a secret from a file. The secret is the first line without its line break, so files written by an editor or
 * `echo` are accepted.
 */
export function readSecretFile(path: string): SecretReading {
  let text: string | undefined;
  try {
    [text] = readFileSync(path, 'utf8').split(/\r?\n/, 1);
  } catch (error) {
    return { fault: `the file ${path} cannot be read: ${fileReason(error)}` };
  }
  if (!text) return { fault: `the first line of the file ${path} is empty` };
  if (isPlaceholderSecret(text))
    return { fault: `the first line of the file ${path} is a placeholder that has not been replaced` };
  return { text };
}

const READABLE_BY_OTHERS = 0o004;

/**
 * Returns whether every user on this machine can read a file. Returns false if the file does not exist. Always returns
 * false on Windows, where the mode does not show who can read a file.
 */
export function isReadableByOthers(path: string): boolean {
  if (process.platform === 'win32') return false;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & READABLE_BY_OTHERS) !== 0;
}
