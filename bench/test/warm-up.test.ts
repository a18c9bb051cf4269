import assert from 'node:assert/strict';
import { test } from 'vitest';
import { countOptimizations } from '../compiler-log.ts';
import { warmUp, type WarmUpWindow } from '../warm-up.ts';

const RULE = { requests: 60_000, maxSeconds: 10 };

/** Runs a warm-up whose one-second windows have these results. The last result is repeated. */
async function warmed(windows: readonly Pick<WarmUpWindow, 'requests' | 'optimizations'>[], rule = RULE) {
  let at = -1;
  return warmUp(rule, (seconds) => {
    at = Math.min(at + 1, windows.length - 1);
    const { requests, optimizations } = windows[at] ?? { requests: 0, optimizations: undefined };
    return Promise.resolve({ requests, optimizations, seconds });
  });
}

test('a server that does not run on V8 is warm after the requests', async () => {
  const result = await warmed([{ requests: 25_000, optimizations: undefined }]);
  assert.deepEqual(result, { requests: 75_000, seconds: 3, optimizationsPerSecond: undefined, complete: true });
});

test('a server on V8 is warmed beyond the requests until it stops compiling', async () => {
  const compiling = (optimizations: number) => ({ requests: 40_000, optimizations });
  const result = await warmed([compiling(90), compiling(30), compiling(5), compiling(4)]);
  assert.deepEqual(result, { requests: 160_000, seconds: 4, optimizationsPerSecond: 4, complete: true });
});

test('a quiet compiler does not end the warm-up before the requests', async () => {
  const result = await warmed([{ requests: 20_000, optimizations: 0 }]);
  assert.equal(result.seconds, 3);
});

test('the warm-up ends after its maximum time and is then not complete', async () => {
  const result = await warmed([{ requests: 1000, optimizations: 50 }]);
  assert.deepEqual(result, { requests: 10_000, seconds: 10, optimizationsPerSecond: 50, complete: false });
});

test('completed compilations are counted, and not those that only started', () => {
  const log = [
    '[marking 0x1 <JSFunction f> for optimization to MAGLEV, ConcurrencyMode::kConcurrent, reason: hot and stable]',
    '[compiling method 0x1 <JSFunction f> (target MAGLEV), mode: ConcurrencyMode::kConcurrent]',
    '[completed compiling 0x1 <JSFunction f> (target MAGLEV) - took 0.000, 0.425, 0.001 ms]',
    '[completed compiling 0x1 <JSFunction f> (target TURBOFAN_JS) OSR - took 0.014, 1.381, 0.018 ms]',
    '[completed optimizing 0x1 <JSFunction f> (target TURBOFAN_JS) OSR]',
  ];
  assert.equal(countOptimizations(`${log.join('\n')}\n`), 2);
});
