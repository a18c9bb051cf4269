import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The package's folder, which contains `config/` and `schemas/`. The path is correct for both the sources and the
 * build.
 */
export const packageRoot = join(import.meta.dirname, '..', '..');

let version: string | undefined;

/** Returns this package's version from its `package.json`, which is read once. */
export const packageVersion = (): string => (version ??= readVersion());

function readVersion(): string {
  const parsed = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version?: unknown };
  return typeof parsed.version === 'string' ? parsed.version : 'unknown';
}
