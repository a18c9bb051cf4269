import { readStateFile } from '../../engine/config/state-files.ts';
import { readKeyedState, writeKeyedState } from '../../lib/keyed-state-file.ts';
import { type MirrorTotals, noTotals, totalsFrom, totalsJson } from './mirror-totals.ts';

/** What is stored so that it survives restarts. */
export interface StoredMirror {
  /** The key with which a gateway alone makes numbers that stand for callers. */
  readonly key: Buffer;
  readonly totals: MirrorTotals;
}

/** The JSON pointer to the key that names the file. */
export const POINTER = '/mirror/file';

/** Reads what is stored. If there is no file, returns empty totals with a new key. Throws a StartFault if it is invalid. */
export function readMirrorFile(settings: Parameters<typeof readStateFile>[0], file: string): StoredMirror {
  const words = { kind: 'file of the mirror', start: 'without counts' };
  return readStateFile(settings, { file, pointer: POINTER }, words, (path) => {
    const { key, state } = readKeyedState(path);
    return { key, totals: state === undefined ? noTotals('', 0) : totalsFrom(state['totals'], 'totals') };
  });
}

/** Replaces the file. */
export const writeMirrorFile = (file: string, { key, totals }: StoredMirror): Promise<void> =>
  writeKeyedState(file, key, { totals: totalsJson(totals) });
