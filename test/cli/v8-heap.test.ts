import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const heapModule = new URL('../../src/cli/v8-heap.ts', import.meta.url).href;

/** Runs a script in a new process and returns what it prints. */
function run(script: string, ...flags: readonly string[]): string {
  const args = [...flags, '--input-type=module', '-e', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  // V8 reports unknown flags to standard error.
  expect(stderr).toBe('');
  return stdout;
}

/**
 * Returns the size of the young generation in bytes, after a first and a second round of allocating objects that
 * survive.
 */
function sizesAfter(limited: boolean): readonly number[] {
  const output = run(`
    import { getHeapSpaceStatistics } from 'node:v8';
    import { limitYoungGeneration, letYoungGenerationGrow } from ${JSON.stringify(heapModule)};
    if (${limited}) limitYoungGeneration();
    const survivors = [];
    const sizeAfterMore = () => {
      for (let index = 0; index < 1_000_000; index++) survivors.push({ index });
      return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
    };
    const during = sizeAfterMore();
    letYoungGenerationGrow();
    console.log(JSON.stringify([during, sizeAfterMore()]));`);
  return JSON.parse(output) as number[];
}

// The other threads of V8 influence when survivors are counted, so the test tries up to three times.
it('the young generation does not grow during the start, but grows afterwards', { retry: 2 }, () => {
  const [unlimited = 0] = sizesAfter(false);
  const [during = 0, later = 0] = sizesAfter(true);
  expect(during).toBeLessThan(unlimited / 2);
  expect(later).toBeGreaterThan(during * 2);
});

/** Returns the factors by which V8 lets the heap grow before the next collection, as V8 itself reports them. */
function growthFactors(limited: boolean): readonly string[] {
  const output = run(
    `
    import { limitHeapGrowth } from ${JSON.stringify(heapModule)};
    if (${limited}) limitHeapGrowth();
    const survivors = [];
    for (let index = 0; index < 500_000; index++) survivors.push({ index });
    gc();`,
    '--expose-gc',
    '--trace-gc-verbose',
  );
  return [...output.matchAll(/HeapController\] factor (\d+\.\d)/g)].map(([, factor = '']) => factor);
}

it('the heap may only double until the next collection', () => {
  expect(growthFactors(true)).toContain('2.0');
  expect(growthFactors(false)).not.toContain('2.0');
});

/** Returns how many full collections V8 runs while a program allocates short-lived buffers of 200 kB. */
function fullCollections(limited: boolean): number {
  const output = run(
    `
    import { limitHeapGrowth } from ${JSON.stringify(heapModule)};
    if (${limited}) limitHeapGrowth();
    const survivors = [];
    for (let index = 0; index < 500_000; index++) survivors.push({ index });
    for (let index = 0; index < 2000; index++) Buffer.allocUnsafeSlow(200_000);`,
    '--trace-gc',
  );
  return [...output.matchAll(/Mark-Compact/g)].length;
}

it('short-lived buffers cause few full collections', () => {
  expect(fullCollections(true)).toBeLessThan(fullCollections(false) / 2);
});
