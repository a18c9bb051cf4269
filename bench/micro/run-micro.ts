import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SERVER_CORE } from '../cores.ts';
import type { RunContext } from '../run-scenario.ts';
import type { MicroEffort } from './measure-stage.ts';
import type { MicroLine, MicroTask } from './worker.ts';

/** The settings for short and long micro-benchmarks. */
export const MICRO: Readonly<Record<'full' | 'quick', MicroEffort>> = {
  full: { warmMs: 1000, batchMs: 3, batches: 151, allocationCalls: 2000 },
  quick: { warmMs: 300, batchMs: 2, batches: 41, allocationCalls: 2000 },
};

/** Measures all stages in a separate process on the server's core. Prints a line after each stage. */
export function runMicro(
  effort: MicroEffort,
  { folder, upstream, progress }: RunContext,
): Promise<readonly MicroLine[]> {
  const task: MicroTask = { folder: join(folder, 'micro'), upstreamPort: upstream.portOf('29k', 'same'), effort };
  const file = join(import.meta.dirname, 'worker.ts');
  const args = ['-c', String(SERVER_CORE), process.execPath, '--expose-gc', file, JSON.stringify(task)];
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    const lines: MicroLine[] = [];
    let errors = '';
    createInterface(child.stdout).on('line', (text) => {
      const line = JSON.parse(text) as MicroLine;
      lines.push(line);
      progress.tick(`measured: ${line.name}`);
    });
    child.stderr.on('data', (part: Buffer) => void (errors += part.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(lines);
      else reject(new Error(`the micro-benchmarks ended with ${code}:\n${errors.slice(-2000)}`));
    });
  });
}
