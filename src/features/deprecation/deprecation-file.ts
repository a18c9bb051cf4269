import { readKeyedState, writeKeyedState } from '../../lib/keyed-state-file.ts';
import { type Decisions, decisionsFrom, decisionsJson } from './revocations.ts';
import { NO_USAGE, type Usage, usageFrom, usageJson } from './usage.ts';

/** What is stored so that it survives restarts. */
export interface StoredDeprecation {
  /** The key with which a gateway alone makes the callers' tags. */
  readonly key: Buffer;
  readonly usage: Usage;
  readonly decisions: Decisions;
}

/**
 * Reads what is stored. If there is no file, returns an empty state with a new key. Throws an error that describes the
 * problem if the file is invalid.
 */
export function readDeprecationFile(file: string): StoredDeprecation {
  const { key, state } = readKeyedState(file);
  if (state === undefined) return { key, usage: NO_USAGE, decisions: new Map() };
  const { usage, decisions } = state;
  return { key, usage: usageFrom(usage, 'usage'), decisions: decisionsFrom(decisions, 'decisions') };
}

/** Replaces the file. */
export const writeDeprecationFile = (file: string, { key, usage, decisions }: StoredDeprecation): Promise<void> =>
  writeKeyedState(file, key, { usage: usageJson(usage), decisions: decisionsJson(decisions) });
