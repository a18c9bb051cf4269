import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Tests share parsed contracts and compiled packages with each other and with earlier runs, as starts of Portico do.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules', '.cache', 'portico-test');

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'bench/test/**/*.test.ts'],
    // Every test owns its servers and ports, so files may run side by side; two cores is what CI has.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // `npm run coverage`: an overview in the terminal, and every line in coverage/index.html.
    coverage: { include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
    // What is polled comes from other processes and sockets; on a busy machine a second is not enough.
    expect: { poll: { timeout: 10_000 } },
  },
});
