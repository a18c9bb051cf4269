import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, rmSync, type Stats } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { packageVersion } from './package-root.ts';
import { makeFolder, replaceFileSync } from './replace-file.ts';

/** Results of slow computations at startup, which are stored next to Node's compiled code for the next start. */
export interface StoredResults {
  /** Returns the result that is stored under a key, or undefined if there is none, or none that can be trusted. */
  read(key: string): string | undefined;
  /** Stores a result. If that fails, the next start computes the result again. */
  write(key: string, text: string): void;
}

/** The maximum number of results of a kind. When there are more, the oldest are removed. */
const MAX_RESULTS = 16;

/** Returns the folder for a kind of result. Returns undefined if Node's compile cache is off, so nothing is stored. */
function folderOf(kind: string): string | undefined {
  const compileCache = getCompileCacheDir();
  return compileCache === undefined ? undefined : join(compileCache, kind);
}

const fileOf = (folder: string, key: string) => join(folder, `${key}.json`);

/**
 * Opens the stored results of a kind, which must be the name of a folder. Whoever can write there controls the program
 * anyway, because the folder also contains the compiled code; if anyone but Portico's user could write there, nothing is
 * read or stored.
 */
export function openStoredResults(kind: string, folder = folderOf(kind)): StoredResults {
  return {
    read: (key) => (folder === undefined ? undefined : readStored(folder, fileOf(folder, key))),
    write(key, text) {
      if (folder !== undefined) store(folder, fileOf(folder, key), text);
    },
  };
}

/**
 * Returns the key of a result: a digest of everything that the result depends on, and of the package's version. An
 * outdated result therefore has another key, and is never read.
 */
export function resultKey(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of [packageVersion(), ...parts]) hash.update(part).update('\0');
  return hash.digest('hex');
}

function readStored(folder: string, file: string): string | undefined {
  try {
    if (!isOwnFolder(folder)) return undefined;
    const stats = lstatSync(file);
    if (!stats.isFile() || !isOwn(stats)) return undefined;
    const stored = readFileSync(file, 'utf8');
    const end = stored.indexOf('\n');
    const text = stored.slice(end + 1);
    return checksum(text) === stored.slice(0, end) ? text : undefined;
  } catch {
    return undefined;
  }
}

function store(folder: string, file: string, text: string): void {
  try {
    makeFolder(folder);
    if (!isOwnFolder(folder)) return;
    replaceFileSync(file, `${checksum(text)}\n${text}`, 0o600);
    removeOldest(folder);
  } catch {
    // The next start computes the result again.
  }
}

function removeOldest(folder: string): void {
  const newestFirst = readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, modified: lstatSync(path).mtimeMs }))
    .toSorted((a, b) => b.modified - a.modified);
  for (const { path } of newestFirst.slice(MAX_RESULTS)) rmSync(path, { force: true });
}

// The results determine what the gateway enforces, so they are not read if another user could have modified them.
function isOwnFolder(folder: string): boolean {
  const stats = lstatSync(folder);
  return stats.isDirectory() && isOwn(stats);
}

/**
 * Returns true if only this user can write to a file. Always returns false on platforms without user ids, so nothing is
 * stored there.
 */
function isOwn({ uid, mode }: Stats): boolean {
  return uid === process.geteuid?.() && (mode & 0o022) === 0;
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
