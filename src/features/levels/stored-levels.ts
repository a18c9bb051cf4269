import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { PrepareContext } from '../../engine/config/settings.ts';
import { readStateFile } from '../../engine/config/state-files.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { readFormerLadder, readFormerOverrides } from './former-files.ts';
import type { LevelsState } from './level-entry.ts';
import { NO_LEVELS } from './level-store.ts';
import { readLevelsFile } from './levels-file.ts';
import type { LevelsOptions } from './options.ts';

/** What was stored when the gateway started. */
export interface StoredLevels {
  readonly state: LevelsState;
  /** True if `levels.file` contains the state as it is. */
  readonly isInFile: boolean;
  /** The files of an earlier version that were read. */
  readonly former: readonly string[];
  /** The files of an earlier version that were not read although they were changed after `levels.file`. */
  readonly ignored: readonly string[];
}

type Files = Pick<PrepareContext<LevelsOptions>, 'options' | 'settings'>;

/** A file of an earlier version: the key that named it, its default name, and its reader. */
const FORMER = [
  {
    key: '/ladder/file',
    name: 'ladder.json',
    kind: 'ladder file',
    read: (file: string) => readFormerLadder(file),
  },
  {
    key: '/overrides/file',
    name: 'overrides.json',
    kind: 'overrides file',
    read: (file: string): LevelsState | undefined => {
      const entries = readFormerOverrides(file);
      return entries && { contracts: [], entries };
    },
  },
] as const;

/**
 * Reads what is stored: `levels.file` or, if it does not exist, the two files of earlier versions, which are left as they
 * are. Throws a `StartFault` if a file is invalid.
 */
export function readStoredLevels({ options: { file }, settings }: Files): StoredLevels {
  if (file === IN_MEMORY) return { state: NO_LEVELS, isInFile: true, former: [], ignored: [] };
  const state = readStateFile(settings, { file, pointer: POINTER }, { ...WORDS, kind: 'levels file' }, readLevelsFile);
  const folder = FORMER.some(({ key }) => isRenamed(settings, key)) ? defaultFolder(settings) : dirname(file);
  const formerFiles = FORMER.flatMap(({ key, name, ...one }) => {
    const path = formerPath(settings, key) ?? join(folder, name);
    return path === IN_MEMORY ? [] : [{ ...one, key, path }];
  });
  if (state !== undefined) {
    const writtenAt = changedAt(file) ?? 0;
    const ignored = formerFiles.flatMap(({ path }) => ((changedAt(path) ?? 0) > writtenAt ? [path] : []));
    return { state, isInFile: true, former: [], ignored };
  }
  const found = formerFiles.flatMap(({ key, path, kind, read }) => {
    const pointer = isRenamed(settings, key) ? key : POINTER;
    const content = readStateFile(settings, { file: path, pointer }, { ...WORDS, kind }, read);
    return content === undefined ? [] : [{ path, content }];
  });
  return {
    state: {
      contracts: found.flatMap(({ content }) => content.contracts),
      entries: found.flatMap(({ content }) => content.entries),
    },
    isInFile: false,
    former: found.map(({ path }) => path),
    ignored: [],
  };
}

const isRenamed = ({ renamed }: Files['settings'], key: string) => renamed.some(({ from }) => from === key);

/** Returns the folder in which earlier versions stored what had no configured place. */
const defaultFolder = ({ cwd, embedded }: Files['settings']) => resolve(cwd, '.portico', embedded ? 'demo' : '');

/** Returns the path that a key of an earlier version names. Undefined if the key is not set. */
function formerPath({ renamed, cwd }: Files['settings'], key: string): string | undefined {
  const given = renamed.find(({ from }) => from === key)?.value;
  if (typeof given !== 'string') return undefined;
  return given === IN_MEMORY ? given : resolve(cwd, given);
}

/** The key of the file. */
export const POINTER = '/levels/file';
const WORDS = { start: 'with the configured levels' };

const changedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;
