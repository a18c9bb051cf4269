import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../builders/temp-folder.ts';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'portico.mjs');
const flagsModule = new URL('../../src/cli/v8-flags.ts', import.meta.url).href;

/**
 * Runs a script as the main module of a minimal release, in a new process that the launcher starts. Returns what it
 * prints.
 */
function launch(command: string, script: string, ...flags: readonly string[]): string {
  const folder = tempFolder();
  for (const made of ['bin', 'dist/program']) mkdirSync(join(folder, made), { recursive: true });
  cpSync(launcher, join(folder, 'bin', 'portico.mjs'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const imported = `import { useFlagsForComparing, useFlagsForServing } from ${JSON.stringify(flagsModule)};`;
  writeFileSync(join(folder, 'dist', 'program', 'main.js'), `${imported}\n${script}`);
  const args = [...flags, join(folder, 'bin', 'portico.mjs'), command];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  // V8 reports unknown flags on standard error.
  expect(stderr).toBe('');
  return stdout;
}

/**
 * Allocates long-lived objects in two rounds and returns the size of the young generation, in bytes, after each round.
 * The flags for serving are set between the rounds.
 */
function sizesOf(command: string): readonly number[] {
  const output = launch(
    command,
    `
    import { getHeapSpaceStatistics } from 'node:v8';
    const survivors = [];
    const sizeAfterMore = () => {
      for (let index = 0; index < 1_000_000; index++) survivors.push({ index });
      return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
    };
    const during = sizeAfterMore();
    useFlagsForServing();
    console.log(JSON.stringify([during, sizeAfterMore()]));`,
  );
  return JSON.parse(output) as number[];
}

// V8's other threads affect when survivors are counted, so the test tries up to three times.
it(
  'the young generation does not grow while serve starts, or in a comparison, but while serve serves',
  { retry: 2 },
  () => {
    const [unlimited = 0] = sizesOf('plan');
    const [during = 0, later = 0] = sizesOf('serve');
    const [comparing = 0] = sizesOf('compare');
    expect(during).toBeLessThan(unlimited / 2);
    expect(comparing).toBeLessThan(unlimited / 2);
    expect(later).toBeGreaterThan(during * 2);
  },
);

/** Returns the factors by which V8 lets the heap grow before the next collection, as reported by V8 itself. */
function growthFactors(setFlags: string): readonly string[] {
  const output = launch(
    'serve',
    `
    ${setFlags};
    const survivors = [];
    for (let index = 0; index < 500_000; index++) survivors.push({ index });
    gc();`,
    '--expose-gc',
    '--trace-gc-verbose',
  );
  return [...output.matchAll(/HeapController\] factor (\d+\.\d)/g)].map(([, factor = '']) => factor);
}

it('the heap of a gateway that serves may only double until the next collection, and grow by half in a comparison', () => {
  expect(growthFactors('useFlagsForServing()')).toContain('2.0');
  expect(growthFactors('useFlagsForComparing()')).toContain('1.5');
  expect(growthFactors('')).not.toContain('2.0');
});

/** Returns how many full collections V8 runs while a program allocates short-lived buffers of 200 kB. */
function fullCollections(serves: boolean): number {
  const output = launch(
    'serve',
    `
    if (${serves}) useFlagsForServing();
    const survivors = [];
    for (let index = 0; index < 500_000; index++) survivors.push({ index });
    for (let index = 0; index < 6000; index++) Buffer.allocUnsafeSlow(200_000);`,
    '--trace-gc',
  );
  return [...output.matchAll(/Mark-Compact/g)].length;
}

it('short-lived buffers cause few full collections while requests are served', () => {
  expect(fullCollections(true)).toBeLessThan(fullCollections(false) / 2);
});
