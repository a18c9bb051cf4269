import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Arguments } from './arguments.ts';
import { MICRO, runMicro } from './micro/run-micro.ts';
import { formatFiles } from './report/format-files.ts';
import { microMarkdown } from './report/micro-markdown.ts';
import type { Session } from './session.ts';

/** Measures the stages separately and writes MICRO.md and micro.json. */
export async function measureMicro(
  { quick, out }: Arguments,
  { startedAt, machine, context }: Session,
): Promise<number> {
  const lines = await runMicro(MICRO[quick ? 'quick' : 'full'], context);
  const folder = out === undefined ? join(import.meta.dirname, quick ? 'out' : '') : resolve(out);
  mkdirSync(folder, { recursive: true });
  const files = { markdown: join(folder, 'MICRO.md'), json: join(folder, 'micro.json') };
  const { missing: _, ...about } = machine;
  writeFileSync(files.markdown, microMarkdown(lines, machine, startedAt));
  writeFileSync(files.json, `${JSON.stringify({ startedAt, machine: about, stages: lines }, undefined, 2)}\n`);
  formatFiles(Object.values(files));
  context.progress.say(`written: ${files.markdown}, micro.json`);
  return 0;
}
