import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../src/lib/package-root.ts';
import { runNpmSbom, toStableSbom } from '../tools/sbom.ts';

interface Package {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const readJson = (name: string) => JSON.parse(readFileSync(join(packageRoot, name), 'utf8')) as unknown;
const { packages } = readJson('package-lock.json') as { readonly packages: Readonly<Record<string, Package>> };

/** Returns the path of the package that Node loads when another package imports the name. */
function resolved(name: string, from: string): string | undefined {
  const folders = [
    from,
    ...from.split('/node_modules/').map((_part, at, parts) => parts.slice(0, -at - 1).join('/node_modules/')),
  ];
  return [...folders, '']
    .map((folder) => `${folder === '' ? '' : `${folder}/`}node_modules/${name}`)
    .find((path) => path in packages);
}

/** Returns every package that production code can load: this package's direct and indirect dependencies. */
function reachable(path: string, found = new Set<string>()): ReadonlySet<string> {
  const { dependencies, optionalDependencies } = packages[path] ?? {};
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const next = resolved(name, path);
    if (next === undefined || found.has(next)) continue;
    found.add(next);
    reachable(next, found);
  }
  return found;
}

interface Bom {
  readonly bomFormat: string;
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly group?: string;
    readonly purl: string;
  }[];
}

describe('the software bill of materials', () => {
  const raw = runNpmSbom(packageRoot);
  const text = toStableSbom(packageRoot, raw);
  const bom = JSON.parse(text) as Bom;

  it('lists exactly the production dependencies of the lock file', () => {
    const expected = [...reachable('')].map((path) => {
      const name = path.split('node_modules/').at(-1) ?? '';
      return `pkg:npm/${name.replace('@', '%40')}@${packages[path]?.version}`;
    });
    expect(bom.bomFormat).toBe('CycloneDX');
    expect(bom.components.map(({ purl }) => purl).toSorted()).toEqual([...new Set(expected)].toSorted());
    expect(bom.components.length).toBeGreaterThan(15);
  });

  it('is the same at every run', () => {
    const { metadata, components, dependencies, ...rest } = raw;
    const other = {
      ...rest,
      serialNumber: 'urn:uuid:of another run',
      metadata: { ...metadata, timestamp: 'another time' },
      components: components.toReversed(),
      dependencies: dependencies
        .toReversed()
        .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.toReversed() })),
    };
    expect(toStableSbom(packageRoot, other)).toBe(text);
    expect(raw.serialNumber).toBeDefined();
    expect(raw.metadata.timestamp).toBeDefined();
    expect(text).not.toMatch(/timestamp|serialNumber/);
  });
});
