import { randomBytes } from 'node:crypto';
import { IN_MEMORY, replaceFile } from '../../lib/replace-file.ts';
import { parseState, readIfExists } from '../../lib/state-file.ts';
import { type Decisions, decisionsFrom, decisionsJson } from './revocations.ts';
import { NO_USAGE, type Usage, usageFrom, usageJson } from './usage.ts';

/** What is stored so that it survives restarts. */
export interface StoredDeprecation {
  /** The key with which a gateway alone makes the callers' tags. */
  readonly key: Buffer;
  readonly usage: Usage;
  readonly decisions: Decisions;
}

const KEY_BYTES = 32;

/**
 * Reads what is stored. If there is no file, returns an empty state with a new key. Throws an error that describes the
 * problem if the file is invalid.
 */
export function readDeprecationFile(file: string): StoredDeprecation {
  const text = file === IN_MEMORY ? undefined : readIfExists(file);
  if (text === undefined) return { key: randomBytes(KEY_BYTES), usage: NO_USAGE, decisions: new Map() };
  const { version, key, usage, decisions } = parseState(text);
  if (version !== 1) throw new Error('version must be 1');
  const bytes = Buffer.from(typeof key === 'string' ? key : '', 'base64url');
  if (bytes.length !== KEY_BYTES) throw new Error(`key must be ${KEY_BYTES} bytes in base64url`);
  return { key: bytes, usage: usageFrom(usage, 'usage'), decisions: decisionsFrom(decisions, 'decisions') };
}

/**
 * Replaces the file. Only its owner may read it, because whoever has the key can find out whether a name was counted.
 */
export async function writeDeprecationFile(file: string, { key, usage, decisions }: StoredDeprecation): Promise<void> {
  if (file === IN_MEMORY) return;
  const content = {
    version: 1,
    key: key.toString('base64url'),
    usage: usageJson(usage),
    decisions: decisionsJson(decisions),
  };
  await replaceFile(file, `${JSON.stringify(content)}\n`, 0o600);
}
