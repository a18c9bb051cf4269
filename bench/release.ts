import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const BUILT_FROM = ['bin', 'config', 'schemas', 'src', 'tools', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

/**
 * Builds the program that the package and the image contain, in a copy of this checkout without its sources. Returns the
 * folder, in which `npm start` would run that program.
 */
export function buildRelease(folder: string): string {
  const release = join(folder, 'release');
  mkdirSync(release);
  for (const part of BUILT_FROM) cpSync(join(ROOT, part), join(release, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(release, 'node_modules'));
  execFileSync(process.execPath, [join(release, 'tools', 'build.ts'), '--noCheck'], { cwd: release });
  rmSync(join(release, 'src'), { recursive: true });
  return release;
}
