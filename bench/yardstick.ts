import { spawn } from 'node:child_process';
import { SERVER_CORE } from './cores.ts';

/** A fixed piece of work; its processor time shows how fast the core is at that moment. */
const WORK = `
const page = JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id, name: 'n' + id, tags: ['a', 'b'] })));
const once = () => { for (let i = 0; i < 40; i += 1) JSON.parse(page); };
for (let i = 0; i < 10; i += 1) once();
const before = process.cpuUsage();
for (let i = 0; i < 50; i += 1) once();
const { user, system } = process.cpuUsage(before);
process.stdout.write(String(user + system));
`;

/** Does the work on the server's core, with no server alive, and returns its processor time in milliseconds. */
export function measureYardstick(): Promise<number> {
  return new Promise((resolve, reject) => {
    // With one thread only: the time of V8's helpers would depend on what they do at that moment.
    const args = ['-c', String(SERVER_CORE), process.execPath, '--single-threaded', '-e', WORK];
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
