import { spawn } from 'node:child_process';
import { SERVER_CORE } from './cores.ts';

/** Runs a step while another program uses all the time that it can get on the server's core. */
export async function withNeighbor<T>(step: () => Promise<T>): Promise<T> {
  const child = spawn('taskset', ['-c', String(SERVER_CORE), process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    return await step();
  } finally {
    process.removeListener('exit', kill);
    kill();
  }
}
