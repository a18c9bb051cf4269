import { describe, expect, it } from 'vitest';
import { parseMachineTime, stolenShare } from '../../bench/machine-time.ts';
import { runRow } from '../../tools/prove/run-row.ts';

const RED = { cases: 1, faults: ['too slow'], figures: 'slow' };
const GREEN = { cases: 1, faults: [], figures: 'fast' };

/** Runs a row with these results, while the host takes this percentage of the processor time. */
async function row(results: readonly (typeof RED | typeof GREEN)[], percentage: number) {
  let attempts = 0;
  let readings = 0;
  const lines: string[] = [];
  const run = () => {
    const result = results[attempts];
    attempts += 1;
    return result === undefined ? Promise.reject(new Error('no result')) : Promise.resolve(result);
  };
  const read = () => {
    readings += 1;
    return { total: readings * 100, idle: 0, stolen: readings * percentage };
  };
  const context = { soakSeconds: 1, loadSeconds: 1, tick: (line: string) => void lines.push(line) };
  return { result: await runRow({ run }, context, read), attempts, lines };
}

describe('a row of npm run prove', () => {
  it('runs once if it is green, however much processor time was stolen', async () => {
    expect(await row([GREEN], 90)).toEqual({ result: GREEN, attempts: 1, lines: [] });
  });

  it('runs once if it is red although the machine had its processor time', async () => {
    expect(await row([RED, GREEN], 5)).toEqual({ result: RED, attempts: 1, lines: [] });
  });

  it('is repeated if it is red while the host took more than 5% of the processor time, and says so', async () => {
    const { result, lines } = await row([RED, GREEN], 55);
    expect(result).toEqual({
      ...GREEN,
      figures: 'fast; attempt 2; the others were red while the host took 55% of the processor time',
    });
    expect(lines).toEqual(['too slow', '55% of the processor time was stolen by the host: the row is repeated']);
  });

  it('stays red if three attempts are red', async () => {
    const { result, attempts } = await row([RED, RED, RED, GREEN], 55);
    expect(attempts).toBe(3);
    expect(result.faults).toEqual(['too slow']);
    expect(result.figures).toContain('took 55% and 55% of');
  });

  it('is red if it throws an error', async () => {
    expect((await row([], 0)).result.faults).toEqual(['the row failed: Error: no result']);
  });
});

describe('stolen processor time', () => {
  it('is the eighth column of the first line of /proc/stat', () => {
    const text = 'cpu  10 20 30 40 50 60 70 80 7 8\ncpu0 1 2 3 4 5 6 7 8 9 10\n';
    expect(parseMachineTime(text)).toEqual({ total: 360, idle: 90, stolen: 80 });
    expect(parseMachineTime('cpu  10 20 30')).toBeUndefined();
  });

  it('is a share of the time between two readings, or 0 if it cannot be read', () => {
    expect(stolenShare({ total: 100, idle: 0, stolen: 10 }, { total: 300, idle: 0, stolen: 60 })).toBe(0.25);
    expect(stolenShare(undefined, { total: 300, idle: 0, stolen: 60 })).toBe(0);
    expect(stolenShare({ total: 100, idle: 0, stolen: 10 }, { total: 100, idle: 0, stolen: 10 })).toBe(0);
  });
});
