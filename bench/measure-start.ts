import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { porticoProgram } from './peers/portico.ts';
import { startProgram } from './process-tree.ts';
import type { RunContext } from './run-scenario.ts';
import { type Spread, spreadOf } from './spread.ts';
import { untilReady } from './until-ready.ts';

const ROOT = join(import.meta.dirname, '..');

/** The time that Portico takes to become ready, and its idle memory. The upstream runs in a separate process. */
export interface StartResult {
  readonly readyMs: Spread;
  readonly restBytes: Spread;
}

/** Builds the program in a checkout's copy, as in a release, which contains no sources. Returns the copy's folder. */
function buildRelease(folder: string): string {
  const release = join(folder, 'release');
  mkdirSync(release, { recursive: true });
  for (const part of [
    'bin',
    'config',
    'schemas',
    'src',
    'tools',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ])
    cpSync(join(ROOT, part), join(release, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(release, 'node_modules'));
  execFileSync(process.execPath, [join(release, 'tools', 'build.ts'), '--noCheck'], { cwd: release });
  rmSync(join(release, 'src'), { recursive: true });
  return release;
}

/**
 * Starts a release of Portico several times. Each time, reads its memory usage two seconds after it is ready, without sending any
 * requests. Only the first start of a release compiles the modules; later starts read the compiled code that it
 * stored.
 */
export async function measureStart(starts: number, context: RunContext): Promise<StartResult> {
  context.progress.say('Start to ready: building the program');
  const checkout = buildRelease(context.folder);
  const readyMs: number[] = [];
  const restBytes: number[] = [];
  for (let at = 0; at < starts; at += 1) {
    context.progress.say(`Start to ready: ${at + 1} of ${starts}`);
    const { program, adminPort } = await porticoProgram(
      `portico-start-${at}`,
      { label: 'start', responses: 'enforce', cache: true, checkout },
      { port: await freePort(), upstreamPort: context.upstream.portOf('29k', 'same'), folder: context.folder },
    );
    const startedAt = performance.now();
    const running = await startProgram({ ...program, port: adminPort });
    try {
      await untilReady(adminPort);
      readyMs.push(performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, 2000));
      restBytes.push(running.rssBytes());
    } finally {
      await running.stop();
    }
  }
  return { readyMs: spreadOf(readyMs), restBytes: spreadOf(restBytes) };
}
