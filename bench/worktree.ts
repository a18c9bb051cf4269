import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** A temporary checkout of a git ref. */
export interface Worktree {
  readonly folder: string;
  readonly commit: string;
  /** Removes the checkout from git and from disk. May be called more than once. */
  remove(): void;
}

/** Checks out a ref into a new folder. It shares this checkout's packages if the two lock files are identical. */
export function addWorktree(ref: string, folder: string): Worktree {
  const commit = git('rev-parse', '--verify', '--short', `${ref}^{commit}`);
  git('worktree', 'add', '--detach', folder, commit);
  const remove = () => {
    spawnSync('git', ['worktree', 'remove', '--force', folder], { cwd: ROOT });
  };
  try {
    bringPackages(folder);
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, commit, remove };
}

function bringPackages(folder: string): void {
  const lock = 'package-lock.json';
  if (readFileSync(join(folder, lock)).equals(readFileSync(join(ROOT, lock)))) {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    return;
  }
  const { status, stderr } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm ci for the other ref failed:\n${stderr}`);
}

function git(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr.trim()}`);
  return stdout.trim();
}
