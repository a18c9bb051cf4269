import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

type Versions = Readonly<Record<string, string>>;
interface Manifest {
  readonly dependencies: Versions;
  readonly devDependencies: Versions;
  readonly engines: Versions;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}
interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly optionalDependencies?: Versions;
}

const read = (name: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, '..', name), 'utf8'));
const manifest = read('package.json') as Manifest;
const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, LockedPackage>> };

/**
 * Returns the lock-file key of the package that `require` would find from inside a locked package. The
 * search starts in that package's own folder and continues upward.
 */
function lockedFrom(from: string, name: string, all: Readonly<Record<string, LockedPackage>>): string | undefined {
  const parts = from === '' ? [''] : ['', ...from.split(/\/?node_modules\//).slice(1)];
  for (let depth = parts.length; depth > 0; depth--) {
    const folder = parts.slice(1, depth).map((part) => `node_modules/${part}/`);
    const place = `${folder.join('')}node_modules/${name}`;
    if (all[place]?.version !== undefined) return place;
  }
  return undefined;
}

const missingOptional = (all: Readonly<Record<string, LockedPackage>>): string[] =>
  Object.entries(all).flatMap(([from, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).flatMap((name) =>
      lockedFrom(from, name, all) === undefined ? [`${from} → ${name}`] : [],
    ),
  );

describe('the package', () => {
  it.each(Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }))(
    'depends on exactly one version of %s, the locked one',
    (name, version) => {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(packages[`node_modules/${name}`]?.version).toBe(version);
    },
  );

  it("includes its own Node and permits only Node's install script", () => {
    expect(manifest.engines).toEqual({ node: '>=24.21' });
    expect(manifest.allowScripts).toEqual({ node: true });
    expect(manifest.devDependencies['node']).toMatch(/^(2[4-9]|[3-9]\d)\./);
  });
});

describe('the lock file', () => {
  // `npm ci` refuses a lock file without these entries, no matter which platform it was written on.
  it('has an entry for every optional package that a locked package names', () => {
    expect(missingOptional(packages)).toEqual([]);
    expect(Object.values(packages).some(({ optionalDependencies }) => optionalDependencies !== undefined)).toBe(true);
  });

  it('is rejected without one of them', () => {
    const [place, { optionalDependencies = {} }] = Object.entries(packages).find(
      ([, locked]) => locked.optionalDependencies !== undefined,
    ) ?? ['', {}];
    const [name = ''] = Object.keys(optionalDependencies);
    const { [lockedFrom(place, name, packages) ?? '']: _gone, ...rest } = packages;
    expect(missingOptional(rest)).toContain(`${place} → ${name}`);
  });

  it('pins the content of every entry', () => {
    const loose = Object.entries(packages).filter(([place, { integrity }]) => place !== '' && integrity === undefined);
    expect(loose.map(([place]) => place)).toEqual([]);
  });
});
