import { expect, test } from 'vitest';
import { tables } from '../profile/measure-profile.ts';
import { type CpuProfile, kindOf, selfTimes } from '../profile/work.ts';

const ROOT = new URL('../..', import.meta.url).href;

const node = (id: number, functionName: string, url: string) => ({
  id,
  callFrame: { functionName, url, lineNumber: 9 },
});

const PROFILE: CpuProfile = {
  nodes: [node(3, 'handle', `${ROOT}src/engine/http/public-handler.ts`), node(4, 'writev', ''), node(5, '(idle)', '')],
  startTime: 1000,
  samples: [3, 4, 5, 3, 3],
  timeDeltas: [0, 100, 100, 100, 300],
};

test('a sample lasts until the next one, without waiting and times outside the window', () => {
  // `writev` runs from 1100 to 1200 µs, the process is idle until 1300 µs, and then `handle` runs for 300 µs.
  const times = selfTimes(PROFILE, 1050, 1350);
  expect([...times]).toEqual([
    ['writev ', 100],
    ['handle src/engine/http/public-handler.ts:10', 300],
  ]);
  expect(tables(times, 40)).toMatch(/ 75\.0% +30\.0 {2}Portico: http\n 25\.0% +10\.0 {2}system calls/);
});

test('functions are grouped by the kind of work that they do', () => {
  expect(kindOf('parserOnIncoming node:_http_server:10')).toBe('Node: http');
  expect(kindOf('x node:internal/streams/writable:1')).toBe('Node: net and streams');
  expect(kindOf('x node_modules/a/node_modules/@b/c/d.js:1')).toBe('package @b/c');
  expect(kindOf('x src/engine/cache/memory-pages.ts:1')).toBe('Portico: cache');
  expect(kindOf('wasm-function[2] wasm://wasm/327d147e:1')).toMatch(/^WebAssembly/);
  expect(kindOf('(garbage collector) ')).toBe('V8: garbage collection');
  expect(kindOf('toString ')).toMatch(/built-ins/);
});
