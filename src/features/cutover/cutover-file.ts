import { readKeyedState, writeKeyedState } from '../../lib/keyed-state-file.ts';
import { objectOf } from '../../lib/state-file.ts';
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

const TAG = /^[\w-]{22}$/;

/**
 * Reads what is stored. If there is no file, returns an empty state with a new key. Throws an error that describes the
 * problem if the file is invalid.
 */
export function readCutoverFile(file: string): StoredCutover {
  const { key, state: read } = readKeyedState(file);
  if (read === undefined) return { key, state: undefined, stays: [] };
  const { state, stays } = read;
  if (!Array.isArray(stays) || stays.length > MAX_STAYS) throw new Error('stays must be a list');
  return {
    key,
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

/** Replaces the file. */
export const writeCutoverFile = (
  file: string,
  { key, state, stays }: StoredCutover & { readonly state: CutoverState },
): Promise<void> =>
  writeKeyedState(file, key, {
    state: stateJson(state),
    stays: stays.map(({ tag, side, step }) => [tag, side, step]),
  });
