import { spawn } from 'node:child_process';
import { SERVER_CORE } from './cores.ts';

/** A fixed task whose CPU time shows how fast the core currently is. */
const TASK = `
const page = JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id, name: 'n' + id, tags: ['a', 'b'] })));
const once = () => { for (let i = 0; i < 40; i += 1) JSON.parse(page); };
for (let i = 0; i < 10; i += 1) once();
const before = process.cpuUsage();
for (let i = 0; i < 50; i += 1) once();
const { user, system } = process.cpuUsage(before);
process.stdout.write(String(user + system));
`;

/** Runs the task on the server's core and returns its CPU time in milliseconds. */
export function measureYardstick(): Promise<number> {
  return new Promise((resolve, reject) => {
    // V8's helper threads would use a varying amount of CPU time, so the task runs with a single thread.
    const args = ['-c', String(SERVER_CORE), process.execPath, '--single-threaded', '-e', TASK];
    const child = spawn('taskset', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (part: Buffer) => void (output += part.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(Number(output) / 1000);
      else reject(new Error(`the yardstick ended with ${code}`));
    });
  });
}
