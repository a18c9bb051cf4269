import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const nursery = new URL('../../src/cli/small-nursery.ts', import.meta.url).href;

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

it('what survives a start does not enlarge the room for young objects, and what comes later does', () => {
  const [grown = 0] = roomAfter(false);
  const [during = 0, later = 0] = roomAfter(true);
  expect(during).toBeLessThan(grown / 4);
  expect(later).toBeGreaterThan(during * 2);
});
