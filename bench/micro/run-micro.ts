import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Arguments } from '../arguments.ts';
import { SERVER_CORE } from '../cores.ts';
import type { Session } from '../session.ts';
import type { MicroEffort } from './measure-stage.ts';

const FULL: MicroEffort = { warmMs: 1000, batchMs: 3, batches: 151 };
const QUICK: MicroEffort = { warmMs: 300, batchMs: 2, batches: 41 };

/** Measures the stages of a request in a process of their own, on the server's core. Returns the exit code. */
export async function runMicro({ quick }: Arguments, { setting }: Session): Promise<number> {
  const port = setting.upstream.portOf({ size: '29k', undocumented: false });
  const worker = join(import.meta.dirname, 'worker.ts');
  const task = [join(setting.folder, 'micro'), String(port), JSON.stringify(quick ? QUICK : FULL)];
  process.stdout.write('part of  ns per call        least to most  stage\n');
  const child = spawn('taskset', ['-c', String(SERVER_CORE), process.execPath, '--expose-gc', worker, ...task], {
    stdio: 'inherit',
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
