import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const nursery = new URL('../../src/cli/v8-heap.ts', import.meta.url).href;

/** The room for young objects in bytes, after many that survive were made while it is kept small, and then after more. */
function roomAfter(keepSmall: boolean): readonly number[] {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { keepNurserySmall, letNurseryGrow } from ${JSON.stringify(nursery)};
    if (${keepSmall}) keepNurserySmall();
    const kept = [];
    const room = () => {
      for (let made = 0; made < 1_000_000; made++) kept.push({ made });
      return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
    };
    const during = room();
    letNurseryGrow();
    console.log(JSON.stringify([during, room()]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  // Unknown flags are told on standard error.
  expect(stderr).toBe('');
  return JSON.parse(stdout) as number[];
}

// When V8 looks at how much survived depends on what its other threads have done by then; the best of three tells what it may.
it('what survives a start does not enlarge the room for young objects, and what comes later does', () => {
  const grown = [1, 2, 3].map(() => roomAfter(false)[0] ?? 0);
  const kept = [1, 2, 3].map(() => roomAfter(true));
  const during = Math.min(...kept.map(([room = 0]) => room));
  expect(during).toBeLessThan(Math.max(...grown) / 2);
  expect(Math.max(...kept.map(([, later = 0]) => later))).toBeGreaterThan(during * 2);
});
