import { randomBytes } from 'node:crypto';
import { IN_MEMORY, replaceFile } from '../../lib/replace-file.ts';
import { objectOf, parseState, readIfExists } from '../../lib/state-file.ts';
import { type CutoverState, stateFrom, stateJson } from './cutover-state.ts';
import { MAX_STAYS, type StoredStay } from './stays.ts';

/** What is stored so that it survives restarts. */
export interface StoredCutover {
  /** The key with which a gateway alone names callers. */
  readonly key: Buffer;
  /** Undefined if no decision has been made. */
  readonly state: CutoverState | undefined;
  readonly stays: readonly StoredStay[];
}

const KEY_BYTES = 32;
const TAG = /^[\w-]{22}$/;

/**
 * Reads what is stored. If there is no file, returns an empty state with a new key. Throws an error that describes the
 * problem if the file is invalid.
 */
export function readCutoverFile(file: string): StoredCutover {
  const text = file === IN_MEMORY ? undefined : readIfExists(file);
  if (text === undefined) return { key: randomBytes(KEY_BYTES), state: undefined, stays: [] };
  const { version, key, state, stays } = parseState(text);
  if (version !== 1) throw new Error('version must be 1');
  const bytes = Buffer.from(typeof key === 'string' ? key : '', 'base64url');
  if (bytes.length !== KEY_BYTES) throw new Error(`key must be ${KEY_BYTES} bytes in base64url`);
  if (!Array.isArray(stays) || stays.length > MAX_STAYS) throw new Error('stays must be a list');
  return {
    key: bytes,
    state: stateFrom(objectOf(state, 'state')),
    stays: stays.map((one: unknown, index) => stayFrom(one, `stays[${index}]`)),
  };
}

function stayFrom(value: unknown, place: string): StoredStay {
  const [tag, side, step] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  if (typeof tag !== 'string' || !TAG.test(tag)) throw new Error(`${place} must begin with a tag`);
  if ((side !== 'old' && side !== 'new') || typeof step !== 'number') throw new Error(`${place} must name a server`);
  return { tag, side, step };
}

/** Replaces the file. Only its owner may read it, because whoever has the key can find out who has written. */
export async function writeCutoverFile(
  file: string,
  { key, state, stays }: StoredCutover & { readonly state: CutoverState },
): Promise<void> {
  if (file === IN_MEMORY) return;
  const content = {
    version: 1,
    key: key.toString('base64url'),
    state: stateJson(state),
    stays: stays.map(({ tag, side, step }) => [tag, side, step]),
  };
  await replaceFile(file, `${JSON.stringify(content)}\n`, 0o600);
}
