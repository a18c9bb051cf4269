import { randomBytes } from 'node:crypto';
import { IN_MEMORY, replaceFile } from '../../lib/replace-file.ts';
import { parseState, readIfExists } from '../../lib/state-file.ts';
import { type MirrorTotals, noTotals, totalsFrom, totalsJson } from './mirror-totals.ts';

/** What is stored so that it survives restarts. */
export interface StoredMirror {
  /** The key with which a gateway alone makes numbers that stand for callers. */
  readonly key: Buffer;
  readonly totals: MirrorTotals;
}

const KEY_BYTES = 32;

/**
 * Reads what is stored. If there is no file, returns empty totals with a new key. Throws an error that describes the
 * problem if the file is invalid.
 */
export function readMirrorFile(file: string): StoredMirror {
  const text = file === IN_MEMORY ? undefined : readIfExists(file);
  if (text === undefined) return { key: randomBytes(KEY_BYTES), totals: noTotals('', 0) };
  const { version, key, totals } = parseState(text);
  if (version !== 1) throw new Error('version must be 1');
  const bytes = Buffer.from(typeof key === 'string' ? key : '', 'base64url');
  if (bytes.length !== KEY_BYTES) throw new Error(`key must be ${KEY_BYTES} bytes in base64url`);
  return { key: bytes, totals: totalsFrom(totals, 'totals') };
}

/** Replaces the file. Only its owner may read it, because whoever has the key can find out whether a name was counted. */
export async function writeMirrorFile(file: string, { key, totals }: StoredMirror): Promise<void> {
  if (file === IN_MEMORY) return;
  const content = { version: 1, key: key.toString('base64url'), totals: totalsJson(totals) };
  await replaceFile(file, `${JSON.stringify(content)}\n`, 0o600);
}
