import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A profile in the format of `node --cpu-prof`. Times are in microseconds of the monotonic clock. */
export interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly startTime: number;
  /** For each sample, the id of its node, and the time since the previous sample. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** A function in a profile. */
export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

const ROOT = `${pathToFileURL(join(import.meta.dirname, '..', '..')).href}/`;

/** The kinds of work, of functions outside Portico and packages. The first pattern that matches applies. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^\(garbage collector\)/, 'V8: garbage collection'],
  [/^\(program\)/, 'native code outside of JavaScript (event loop, system calls)'],
  [/^(?:write|read|shutdown|close|accept|open|fstat|fsync)\w* $/, 'system calls on sockets and files'],
  [/ wasm:/, 'WebAssembly: the scanner, and the HTTP parser of undici'],
  [/ node:(?:_http|http|internal\/http)/, 'Node: http'],
  [/ node:(?:_stream|stream|internal\/stream|net|internal\/net)/, 'Node: net and streams'],
  [/ node:/, 'Node: other'],
];

/**
 * Returns the time that each function took itself between two instants, in microseconds. The time in which the process
 * was idle does not count.
 */
export function selfTimes(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  fromUs: number,
  toUs: number,
): ReadonlyMap<string, number> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, number>();
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    at += timeDeltas[index] ?? 0;
    // A sample represents the time until the next one.
    const us = timeDeltas[index + 1] ?? 0;
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === '(idle)' || at < fromUs || at >= toUs || us <= 0) continue;
    const name = nameOf(frame);
    times.set(name, (times.get(name) ?? 0) + us);
  }
  return times;
}

/** Returns the kind of work that a function does. */
export function kindOf(name: string): string {
  const [, pack] = / .*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(name) ?? [];
  if (pack !== undefined) return `package ${pack}`;
  const [, folder] = / src\/(?:(?:engine|features)\/)?([^/]+)\//.exec(name) ?? [];
  if (folder !== undefined) return `Portico: ${folder}`;
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? 'V8: built-ins and compiled validators';
}

/** Returns a function's name and place. Its file is relative to the checkout. Native code has no place. */
function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  return `${functionName || '(anonymous)'} ${url === '' ? '' : `${url.replace(ROOT, '')}:${lineNumber + 1}`}`;
}
