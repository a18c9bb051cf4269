import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const heapModule = new URL('../../src/cli/v8-heap.ts', import.meta.url).href;

/** Runs a script in a new process and returns the value that it prints as JSON. */
function run(script: string): unknown {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  // V8 reports unknown flags to standard error.
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

/**
 * Returns the size of the young generation in bytes after a first and a second round of allocating objects that
 * survive.
 */
function sizesAfter(limited: boolean): readonly number[] {
  const script = `
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
    console.log(JSON.stringify([during, sizeAfterMore()]));`;
  return run(script) as number[];
}

/** Returns the largest number of bytes in buffers while 40,000 buffers of 500 bytes are replaced again and again. */
function bufferBytes(limited: boolean): number {
  return run(`
    import { limitHeapGrowth } from ${JSON.stringify(heapModule)};
    if (${limited}) limitHeapGrowth();
    const pages = [];
    let most = 0;
    for (let index = 0; index < 320_000; index++) {
      const key = ('x' + index).repeat(20) + index;
      pages[index % 40_000] = { body: Buffer.allocUnsafeSlow(500), key, headers: [['a', String(index)]], tags: ['t' + index] };
      if (index % 200 === 0) most = Math.max(most, process.memoryUsage().arrayBuffers);
    }
    console.log(most);`) as number;
}

// Other V8 threads influence when survivors are counted, so the test uses the best of three runs.
it('the young generation does not grow during the start, but grows afterwards', () => {
  const unlimited = [1, 2, 3].map(() => sizesAfter(false)[0] ?? 0);
  const limited = [1, 2, 3].map(() => sizesAfter(true));
  const during = Math.min(...limited.map(([size = 0]) => size));
  expect(during).toBeLessThan(Math.max(...unlimited) / 2);
  expect(Math.max(...limited.map(([, later = 0]) => later))).toBeGreaterThan(during * 2);
});

it('memory that stored pages no longer use is released earlier', () => {
  const unlimited = [1, 2].map(() => bufferBytes(false));
  const limited = [1, 2].map(() => bufferBytes(true));
  expect(Math.min(...limited)).toBeLessThan(0.8 * Math.min(...unlimited));
});
