import { join, resolve } from 'node:path';
import type { Arguments } from './arguments.ts';
import { MICRO, runMicro } from './micro/run-micro.ts';
import { microFiles } from './report/micro-markdown.ts';
import { writeFiles } from './report/write-files.ts';
import type { Session } from './session.ts';

/** Measures the stages separately and writes MICRO.md and micro.json. Returns the exit code. */
export async function measureMicro(
  { quick, out }: Arguments,
  { startedAt, machine, context }: Session,
): Promise<number> {
  context.progress.say('The stages of a request, each separately');
  const lines = await runMicro(MICRO[quick ? 'quick' : 'full'], context);
  const folder = out === undefined ? join(import.meta.dirname, 'out') : resolve(out);
  writeFiles(microFiles(lines, machine, startedAt), folder);
  context.progress.say(`written: ${join(folder, 'MICRO.md')}, micro.json`);
  return 0;
}
