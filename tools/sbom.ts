import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from './command-line.ts';

const HELP = `Lists the production dependencies in CycloneDX format.

Usage: npm run -s sbom [-- FILE]

  FILE                 File for the list. By default, the list is printed.
  --help               Show this help.`;

/** The parts of a CycloneDX document that change on every run, or that this program reads. */
export interface Sbom {
  readonly serialNumber?: string;
  readonly metadata: {
    readonly timestamp?: string;
    readonly tools?: unknown;
    readonly component: Readonly<Record<string, unknown>>;
  };
  readonly components: readonly { readonly 'bom-ref': string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/**
 * Returns the software bill of materials of the production dependencies, in CycloneDX format. It is sorted and
 * contains neither a timestamp nor a random number, so the same lock file always produces the same text.
 */
export function toStableSbom(folder: string, bom: Sbom): string {
  const isShipped = productionPackages(folder);
  const { serialNumber: _random, metadata, components, dependencies, ...rest } = bom;
  const { timestamp: _time, tools: _npm, component, ...stable } = metadata;
  const document = {
    ...rest,
    // npm uses the folder's name as the package name.
    metadata: { ...stable, component: { ...component, name: 'portico' } },
    components: components
      .filter((one) => isShipped.has(one['bom-ref']))
      .toSorted((one, other) => by(one['bom-ref'], other['bom-ref'])),
    dependencies: dependencies
      .filter(({ ref }) => isShipped.has(ref) || ref === component['bom-ref'])
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => isShipped.has(one)).toSorted() }))
      .toSorted((one, other) => by(one.ref, other.ref)),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** Returns npm's bill of materials, which also contains the development dependencies. */
export function runNpmSbom(folder: string): Sbom {
  // With `--omit=dev`, npm would also omit production dependencies that a development dependency needs.
  const command = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--sbom-type=application'];
  const output = execFileSync('npm', command, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return JSON.parse(output) as Sbom;
}

const by = (one: string, other: string) => (one < other ? -1 : 1);

/** Returns the packages that a production installation contains according to the lock file, as `name@version`. */
function productionPackages(folder: string): ReadonlySet<string> {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { version: string; dev?: boolean; devOptional?: boolean }>>;
  };
  const shipped = Object.entries(lock.packages).filter(
    ([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true,
  );
  return new Set(shipped.map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`));
}

if (import.meta.main) {
  const [file] = readCommandLine(HELP, {}, 1).words;
  const root = join(import.meta.dirname, '..');
  const text = toStableSbom(root, runNpmSbom(root));
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text);
}
