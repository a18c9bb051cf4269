import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { SERVER_CORE } from './cores.ts';

/** Ends when its standard input is closed, so that it never outlives the benchmark. */
const SPIN = `
new (require('node:worker_threads').Worker)('for (;;);', { eval: true });
process.stdin.resume().once('end', () => process.exit());`;

/** Runs a step while another program uses all the time that it can get on the server's core. */
export async function withNeighbor<T>(step: () => Promise<T>): Promise<T> {
  const child = spawn('taskset', ['-c', String(SERVER_CORE), process.execPath, '-e', SPIN], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(child, 'exit');
  try {
    return await step();
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
