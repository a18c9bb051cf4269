import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { CpuProfile, ProfileNode } from '../profile/cpu-profile.ts';
import { flameGraph } from '../profile/flame-graph.ts';
import { groupOf } from '../profile/groups.ts';
import { framesOf, toStacks } from '../profile/stacks.ts';

const HERE = new URL('../..', import.meta.url).href;

function node(id: number, functionName: string, url: string, children: readonly number[] = []): ProfileNode {
  return { id, callFrame: { functionName, url, lineNumber: 9 }, children };
}

const PROFILE: CpuProfile = {
  nodes: [
    node(1, '(root)', '', [2, 5]),
    node(2, 'parserOnIncoming', 'node:_http_server', [3]),
    node(3, 'handle', `${HERE}src/engine/http/public-handler.ts`, [4]),
    node(4, 'writev', ''),
    node(5, '(idle)', ''),
  ],
  startTime: 1000,
  endTime: 1600,
  samples: [3, 4, 5, 3, 3],
  timeDeltas: [0, 100, 100, 100, 300],
};

test('a sample lasts until the next one, without waiting and times outside the window', () => {
  const root = toStacks(PROFILE, { fromUs: 1050, toUs: 1350 });
  const self = Object.fromEntries([...framesOf(root)].map((frame) => [frame.name, frame.self]));
  // `writev` runs from 1100 to 1200 µs, the process is idle until 1300 µs, and then `handle` runs for 300 µs.
  assert.deepEqual(self, { all: 0, parserOnIncoming: 0, handle: 300, writev: 100 });
  assert.equal(root.total, 400);
});

test('a window without work is an error', () => {
  assert.throws(() => toStacks(PROFILE, { fromUs: 5000, toUs: 6000 }), /no sample/);
});

test('functions are grouped by the kind of work that they do', () => {
  const group = (functionName: string, url: string) => groupOf({ functionName, url, lineNumber: 0 });
  assert.equal(group('writev', ''), 'system calls on sockets and files');
  assert.equal(group('(garbage collector)', ''), 'V8: garbage collection');
  assert.equal(group('validate15', ''), 'Portico: compiled validators');
  assert.equal(group('toString', ''), 'V8 and Node built-ins');
  assert.match(group('wasm-function[2]', 'wasm://wasm/327d147e'), /^WebAssembly: the scanner/);
  assert.equal(group('x', 'node:internal/streams/writable'), 'Node: net and streams');
  assert.equal(group('x', `${HERE}src/engine/cache/memory-pages.ts`), 'Portico: cache');
  assert.equal(group('x', `${HERE}node_modules/express/lib/a.js`), 'package express');
  assert.equal(group('x', `${HERE}node_modules/a/node_modules/@b/c/d.js`), 'package @b/c');
});

test('a flame graph names files without the path of the checkout', () => {
  const picture = flameGraph(toStacks(PROFILE, { fromUs: 0, toUs: 9999 }), 'a < b');
  assert.ok(picture.includes('src/engine/http/public-handler.ts:10'));
  assert.ok(!picture.includes(HERE.replace('file://', '')));
  assert.ok(picture.includes('a &lt; b'));
});
