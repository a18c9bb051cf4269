import { join, resolve } from 'node:path';
import type { Arguments } from './arguments.ts';
import { MICRO, runMicro } from './micro/run-micro.ts';
import { microFiles } from './report/micro-markdown.ts';
import { type ReportFile, writeFiles } from './report/write-files.ts';
import type { Session } from './session.ts';

/** Measures the stages separately and writes MICRO.md and micro.json. Returns the exit code. */
export async function measureMicro({ quick, out }: Arguments, session: Session): Promise<number> {
  const folder = out === undefined ? join(import.meta.dirname, 'out') : resolve(out);
  writeFiles(await microReport(quick ? 'quick' : 'full', session), folder);
  session.context.progress.say(`written: ${join(folder, 'MICRO.md')}, micro.json`);
  return 0;
}

/** Measures the stages separately. Returns the contents of MICRO.md and micro.json. */
export async function microReport(
  effort: keyof typeof MICRO,
  { startedAt, machine, context }: Session,
): Promise<readonly ReportFile[]> {
  context.progress.say('The stages of a request, each separately');
  return microFiles(await runMicro(MICRO[effort], context), machine, startedAt);
}
