import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join } from 'node:path';
import { readMachineTime } from './machine-time.ts';

/** The machine that runs the benchmark, and the versions of the programs. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly system: string;
  /** The versions of programs and packages, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** The commit of this checkout, marked if files outside bench/ have changed. */
  readonly commit: string;
  /** The load on the cores before the run, from 0 to 1. */
  readonly busyBefore: number;
  /** The programs that are not installed, each with the command that installs it. */
  readonly missing: Readonly<Record<string, string>>;
}

const PROGRAMS: readonly { name: string; version: string; debian: string }[] = [
  { name: 'nginx', version: '-v', debian: 'nginx-light' },
  { name: 'wrk', version: '-v', debian: 'wrk' },
  { name: 'taskset', version: '-V', debian: 'util-linux' },
];

/** Measures the machine's load for one second and reads the version of every program. */
export async function readMachine(): Promise<Machine> {
  const missing: Record<string, string> = {};
  const versions: Record<string, string> = { node: process.version.slice(1) };
  for (const { name, version, debian } of PROGRAMS) {
    const { error, stdout, stderr } = spawnSync(name, [version], { encoding: 'utf8', env: pathWithSbin() });
    if (error !== undefined) missing[name] = `not installed; apt-get install ${debian}`;
    else versions[name] = /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'unknown';
  }
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const system = /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown';
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    system: `${system}, Linux ${release()}`,
    versions: { ...versions, ...manifest.dependencies },
    commit: commitOf(),
    busyBefore: await busyShare(),
    missing,
  };
}

/** Returns the environment with the folders of system programs in `PATH`, which ordinary accounts often lack. */
export function pathWithSbin(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin` };
}

/** Returns the commit of this checkout, with a note if files outside bench/ have changed. */
export function commitOf(): string {
  const git = (...args: readonly string[]) =>
    spawnSync('git', args, { cwd: join(import.meta.dirname, '..'), encoding: 'utf8' }).stdout?.trim() ?? '';
  const commit = git('rev-parse', '--short', 'HEAD');
  if (commit === '') return 'unknown';
  return git('status', '--porcelain', '--', '.', ':!bench') === '' ? commit : `${commit} with local changes`;
}

async function busyShare(): Promise<number> {
  const before = readMachineTime();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const after = readMachineTime();
  if (before === undefined || after === undefined) throw new Error('/proc/stat cannot be read');
  return 1 - (after.idle - before.idle) / Math.max(1, after.total - before.total);
}
