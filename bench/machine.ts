import { readMachineTime } from './machine-time.ts';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { hasExactCpuTime } from './cpu-time.ts';

/** The machine that runs the benchmark, and the versions of the programs. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly system: string;
  /** The versions of programs and packages, keyed by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** The commit of this checkout, marked if files outside bench/ have changed. */
  readonly commit: string;
  /** The load on the cores before the run, from 0 to 1. */
  readonly busyBefore: number;
  /** True if the system reports CPU time in nanoseconds; false if it reports ticks. */
  readonly exactCpuTime: boolean;
  /** The programs that are not installed, each with the command that installs it. */
  readonly missing: ReadonlyMap<string, string>;
}

const PROGRAMS: readonly { name: string; args: readonly string[]; debian: string }[] = [
  { name: 'nginx', args: ['-v'], debian: 'nginx-light' },
  { name: 'varnishd', args: ['-V'], debian: 'varnish' },
  { name: 'haproxy', args: ['-v'], debian: 'haproxy' },
  { name: 'wrk', args: ['-v'], debian: 'wrk' },
  { name: 'taskset', args: ['-V'], debian: 'util-linux' },
];

/** Measures the machine's load for one second and reads the version of every program. */
export async function readMachine(): Promise<Machine> {
  const missing = new Map<string, string>();
  const versions: Record<string, string> = { node: process.version.slice(1) };
  for (const { name, args, debian } of PROGRAMS) {
    const { error, stdout, stderr } = spawnSync(name, args, { encoding: 'utf8', env: pathWithSbin() });
    const version = /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0];
    if (error !== undefined) missing.set(name, `not installed; apt-get install ${debian}`);
    else versions[name] = version ?? 'unknown';
  }
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  Object.assign(versions, manifest.dependencies);
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    kernel: release(),
    system: /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown',
    versions,
    commit: commitOf(),
    exactCpuTime: hasExactCpuTime,
    busyBefore: await busyShare(),
    missing,
  };
}

/**
 * Returns the environment with the folders of system programs added to `PATH`. Ordinary accounts often do not have
 * these folders in their `PATH`.
 */
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
