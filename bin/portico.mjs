#!/usr/bin/env node
/* oxlint-disable typescript/no-unsafe-argument, typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/no-unsafe-member-access -- no types are known here */
// Plain JavaScript that old versions of Node can read too, so that they get one line instead of a syntax error.
import * as crypto from 'crypto';
import { existsSync } from 'fs';
import * as nodeModule from 'module';
import { fileURLToPath } from 'url';

const major = Number(process.versions.node.split('.')[0]);

if (major < 24 || typeof crypto.argon2 !== 'function') {
  process.stderr.write(
    `portico needs Node.js 24.7 or newer; this is ${process.version} (${process.execPath}). In a checkout use: npm start\n`,
  );
  process.exitCode = 1;
} else {
  keepCompiledCode();
  leaveNodesOwnClientAlone();
  const source = new URL('../src/cli/main.ts', import.meta.url);
  const main = existsSync(source) ? source : new URL('../dist/cli/main.js', import.meta.url);
  import(main.href).catch((error) => {
    process.stderr.write(`portico failed to load: ${error && error.stack ? error.stack : error}\n`);
    process.exitCode = 1;
  });
}

// Node keeps what it compiled, and sources without their types, for the next start; it writes them when the process ends.
// In the packages' own folder only: whoever may write there could change the program itself, which is not so of a folder
// for temporary files. Node does without where it may not write, with NODE_DISABLE_COMPILE_CACHE=1, or with a folder of
// the operator's in NODE_COMPILE_CACHE.
function keepCompiledCode() {
  const own = fileURLToPath(new URL('../node_modules/', import.meta.url));
  // As a dependency of another package, Portico is in the folder of packages, with its own packages beside it.
  const around = fileURLToPath(new URL('../..', import.meta.url));
  const packages = existsSync(own) ? own : /[/\\]node_modules[/\\]$/.test(around) ? around : undefined;
  if (packages !== undefined) nodeModule.enableCompileCache(`${packages}.cache/portico`);
}

// Whoever imports node:http by that name is given everything it exports; three of those names load an HTTP client of
// Node's own that nothing here uses: 4 MB and a tenth of the start. They stay where they are and are handed out no more.
function leaveNodesOwnClientAlone() {
  const http = process.getBuiltinModule('node:http');
  for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent'])
    Object.defineProperty(http, name, { enumerable: false });
}
