import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProfileNode } from './cpu-profile.ts';

type CallFrame = ProfileNode['callFrame'];

const ROOT = pathToFileURL(join(import.meta.dirname, '..', '..')).href;

/** The kinds of work whose names V8 reports in parentheses. */
const NAMED = new Map([
  ['(garbage collector)', 'V8: garbage collection'],
  ['(program)', 'native code outside of JavaScript (event loop, system calls)'],
]);

/** Matches the functions in Node's bindings that make system calls on sockets and files. */
const SYSTEM_CALL = /^(?:write|read|shutdown|close|accept|open|fstat|fsync)/;

/** Matches functions that Ajv compiles. They have a name but no file. */
const COMPILED_VALIDATOR = /^validate\d*$/;

/** Node's own modules, grouped by purpose. The first group that matches applies. */
const NODE: readonly (readonly [RegExp, string])[] = [
  [/^node:(?:_http|http|internal\/http)/, 'Node: http'],
  [
    /^node:(?:_stream|stream|internal\/streams|net|internal\/net|internal\/stream_base|internal\/js_stream)/,
    'Node: net and streams',
  ],
  [
    /^node:(?:internal\/timers|timers|internal\/process\/task_queues|internal\/async_hooks|async_hooks|events)/,
    'Node: events, timers, ticks',
  ],
  [/^node:(?:buffer|internal\/buffer|string_decoder|internal\/crypto|crypto|zlib)/, 'Node: buffers, crypto, zlib'],
];

/** Returns the kind of work to which a function belongs. */
export function groupOf({ functionName, url }: CallFrame): string {
  const named = NAMED.get(functionName);
  if (named !== undefined) return named;
  if (url === '' && COMPILED_VALIDATOR.test(functionName)) return 'Portico: compiled validators';
  if (functionName.startsWith('RegExp: ')) return 'V8: regular expressions';
  if (url === '') return SYSTEM_CALL.test(functionName) ? 'system calls on sockets and files' : 'V8 and Node built-ins';
  if (url.startsWith('wasm:')) return 'WebAssembly: the scanner, and the HTTP parser of undici';
  if (url.startsWith('node:')) return NODE.find(([pattern]) => pattern.test(url))?.[1] ?? 'Node: other';
  const file = insideOf(url);
  const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file) ?? [];
  if (name !== undefined) return `package ${name}`;
  const [, folder] = /^src\/(?:engine\/|features\/|workbench\/)?([^/]+)\//.exec(file) ?? [];
  return folder === undefined ? 'Portico: start' : `Portico: ${folder}`;
}

/** Returns the location of a function as `file:line`. The file is relative to the checkout. */
export function placeOf({ url, lineNumber }: CallFrame): string {
  return url === '' ? '' : `${insideOf(url)}:${lineNumber + 1}`;
}

function insideOf(url: string): string {
  if (url.startsWith(`${ROOT}/`)) return url.slice(ROOT.length + 1);
  // The package belongs to another checkout, or is a link.
  const packages = url.lastIndexOf('/node_modules/');
  return packages < 0 ? url.replace(/^file:\/\/.*\//, '') : url.slice(packages + 1);
}
