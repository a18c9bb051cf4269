import { readKeyedState, writeKeyedState } from '../../lib/keyed-state-file.ts';
import { objectOf } from '../../lib/state-file.ts';
import { type CutoverState, stateFrom, stateJson } from './cutover-state.ts';
import { MAX_STAYS, type StoredStay, type StoredStays } from './stays.ts';

/** What is stored so that it survives restarts. */
export interface StoredCutover extends StoredStays {
  /** The key with which a gateway alone names callers. */
  readonly key: Buffer;
  /** Undefined if no decision has been made. */
  readonly state: CutoverState | undefined;
}

const TAG = /^[\w-]{22}$/;

/**
 * Reads what is stored. If there is no file, returns an empty state with a new key. Throws an error that describes the
 * problem if the file is invalid.
 */
export function readCutoverFile(file: string): StoredCutover {
  const { key, state: read } = readKeyedState(file);
  if (read === undefined) return { key, state: undefined, stays: [], told: [] };
  const { state, stays, told } = read;
  return {
    key,
    state: stateFrom(objectOf(state, 'state')),
    stays: staysFrom(stays, 'stays'),
    told: staysFrom(told, 'told'),
  };
}

function staysFrom(stays: unknown, place: string): readonly StoredStay[] {
  if (!Array.isArray(stays) || stays.length > MAX_STAYS) throw new Error(`${place} must be a list`);
  return stays.map((one: unknown, index) => stayFrom(one, `${place}[${index}]`));
}

function stayFrom(value: unknown, place: string): StoredStay {
  const [tag, side, decision] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  if (typeof tag !== 'string' || !TAG.test(tag)) throw new Error(`${place} must begin with a tag`);
  if ((side !== 'old' && side !== 'new') || typeof decision !== 'number')
    throw new Error(`${place} must name a server`);
  return { tag, side, decision };
}

/** Replaces the file. */
export const writeCutoverFile = (
  file: string,
  { key, state, stays, told }: StoredCutover & { readonly state: CutoverState },
): Promise<void> =>
  writeKeyedState(file, key, { state: stateJson(state), stays: stays.map(lineOf), told: told.map(lineOf) });

const lineOf = ({ tag, side, decision }: StoredStay) => [tag, side, decision];
