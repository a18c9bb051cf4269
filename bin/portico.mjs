#!/usr/bin/env node
/* oxlint-disable typescript/no-unsafe-argument, typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/no-unsafe-member-access -- no types are known here */
// This file is plain JavaScript, so that old versions of Node print a clear message instead of a syntax error.
import * as crypto from 'crypto';
import { existsSync } from 'fs';
import * as nodeModule from 'module';
import { fileURLToPath } from 'url';

const [major, minor] = process.versions.node.split('.').map(Number);

// Earlier versions report a zstd body that ends early as complete.
if (major < 24 || (major === 24 && minor < 21) || typeof crypto.argon2 !== 'function') {
  process.stderr.write(
    `portico needs Node.js 24.21 or newer; this is ${process.version} (${process.execPath}). In a checkout use: npm start\n`,
  );
  process.exitCode = 1;
} else {
  if (['serve', 'compare'].includes(process.argv[2])) keepYoungGenerationSmall();
  storeCompiledCode();
  skipUnusedExports();
  const source = new URL('../src/cli/main.ts', import.meta.url);
  const main = existsSync(source) ? source : new URL('../dist/program/main.js', import.meta.url);
  import(main.href).catch((error) => {
    process.stderr.write(`portico failed to load: ${error && error.stack ? error.stack : error}\n`);
    process.exitCode = 1;
  });
}

// Sets V8 flags for `compare` and for the startup of `serve`; `src/cli/v8-flags.ts` replaces them when the gateway is
// ready. Compiled code depends on these flags, so they must be set before Node selects the folder for the code it caches.
// Otherwise, these and the other commands would share a folder and keep replacing each other's code.
function keepYoungGenerationSmall() {
  const v8 = process.getBuiltinModule('node:v8');
  // While many objects survive collections, V8 keeps doubling the young generation of its heap, up to 32 MB, and then
  // takes minutes to shrink it again. Nearly all objects created at startup survive, but few of those created for a
  // request do. Of two large responses that are compared, most survive a collection, but not the comparison.
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}

// Node stores compiled code, and sources without their types, when the process ends, so that the next start is faster.
// The files are stored next to the packages, because anyone who can write there can change the program anyway. That is
// not true of a temporary folder. If Node cannot write the files, or if NODE_DISABLE_COMPILE_CACHE=1 is set, Portico
// works without them. Operators can choose another folder with NODE_COMPILE_CACHE.
function storeCompiledCode() {
  const own = fileURLToPath(new URL('../node_modules/', import.meta.url));
  // If Portico is a dependency of another package, Portico's own dependencies are in the same folder as Portico.
  const around = fileURLToPath(new URL('../..', import.meta.url));
  const packages = existsSync(own) ? own : /[/\\]node_modules[/\\]$/.test(around) ? around : undefined;
  if (packages !== undefined) nodeModule.enableCompileCache(`${packages}.cache/portico`);
}

// When a module imports all exports of node:http, Node evaluates each of them. Three of them load an HTTP client that
// Portico does not use and that would take 4 MB and a tenth of the startup time. They still exist but are no longer
// enumerable, so importing all exports skips them.
function skipUnusedExports() {
  const http = process.getBuiltinModule('node:http');
  for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent'])
    Object.defineProperty(http, name, { enumerable: false });
}
