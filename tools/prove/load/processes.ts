import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rawRequest } from '../../../bench/raw-request.ts';
import { pause } from '../proof.ts';
import { rolesText } from './callers.ts';
import type { UpstreamReport, UpstreamSettings } from './scripted-upstream.ts';

/** How long a gateway may take to start. The machine may be busy with other programs. */
const START_MS = 120_000;
const LAUNCHER = join(import.meta.dirname, '../../../bin/portico.mjs');

/** The scripted upstream in a separate process. */
export interface UpstreamProcess {
  readonly url: string;
  /** Changes the settings and returns the counts collected so far. */
  set(settings: Partial<UpstreamSettings>): Promise<UpstreamReport>;
}

/** A gateway in a separate process. */
export interface GatewayProcess {
  /**
   * The port of the public side. If the configuration does not specify a port, each start chooses a free one, because
   * another program may have taken the previous port.
   */
  readonly port: number;
  readonly adminPort: number;
  /** The working directory, which contains the configuration and the gateway's files. */
  readonly folder: string;
  /** Returns the process id, or 0 if the process is not running. */
  readonly pid: () => number;
  /** Returns the resident memory in bytes. */
  rssBytes(): number;
  /** Returns the number of open sockets. */
  sockets(): number;
  /** Reads a metric. Returns the sum of its series that match the pattern. */
  metric(pattern: RegExp): Promise<number>;
  /** Returns what the process has written to standard error. */
  errors(): string;
  signal(name: NodeJS.Signals): void;
  /** Rewrites the configuration file with the changed keys. The gateway reads it at the next reload or startup. */
  configure(changes: GatewayConfig): void;
  /**
   * Replaces the configuration that the gateway was started with, and waits until the gateway has reloaded it. Returns
   * false if the gateway refuses the reload, for example because a changed key requires a restart.
   */
  reload(config: GatewayConfig): Promise<boolean>;
  /** Ends the process with a signal. Returns the exit code once the process has ended. */
  end(name: NodeJS.Signals): Promise<number | null>;
  /** Restarts the process with the same files after it has ended, and waits until it is ready. */
  start(): Promise<void>;
}

/** The processes of one scenario. */
export interface Scene {
  readonly upstream: UpstreamProcess;
  /**
   * Starts a gateway in front of the upstream. Its configuration is merged, key by key, with the one shared by all
   * scenarios. `variables` are added to the environment of the process.
   */
  startGateway(config?: GatewayConfig, variables?: NodeJS.ProcessEnv): Promise<GatewayProcess>;
}

/** Runs a scenario and gives it access to its processes. */
export type RunScene = <Result>(run: (scene: Scene) => Promise<Result>) => Promise<Result>;

/** The metrics that count reloads. */
export const RELOADS = {
  all: /^portico_reloads_total\{/,
  applied: /^portico_reloads_total\{outcome="applied"/,
  refused: /^portico_reloads_total\{outcome="refused"/,
};

/** Parts of a configuration file. Without `upstream`, the gateway starts the reference server. */
export type GatewayConfig = Readonly<Record<string, Readonly<Record<string, unknown>> | string | boolean>>;

/** The folder for a scenario's files, and the set in which the scenario registers its processes. */
export interface ProcessGroup {
  readonly folder: string;
  readonly children: Set<ChildProcess>;
}

/** Runs a scenario. Then stops its processes and removes its folder, even if the scenario failed. */
export async function withProcesses<Result>(run: (group: ProcessGroup) => Promise<Result>): Promise<Result> {
  const { group, close } = openProcessGroup();
  try {
    return await run(group);
  } finally {
    await close();
  }
}

/** Creates an empty process group. `close` stops all processes that have been added to it and removes its folder. */
export function openProcessGroup(): { readonly group: ProcessGroup; close(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'portico-prove-'));
  const children = new Set<ChildProcess>();
  const killAll = () => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', killAll);
  return {
    group: { folder, children },
    async close() {
      process.removeListener('exit', killAll);
      await Promise.all([...children].map((child) => endOf(child, 'SIGKILL')));
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Runs a scenario with the scripted upstream and with processes that no other scenario uses. */
export const withScene: RunScene = (run) =>
  withProcesses(async (group) => {
    const upstream = await startUpstream(group.children);
    return run({
      upstream,
      startGateway: (config = {}, variables = {}) => startGateway(group, upstream.url, { config, variables }),
    });
  });

/** Starts the scripted upstream. */
export async function startUpstream(children: Set<ChildProcess>): Promise<UpstreamProcess> {
  const child = fork(join(import.meta.dirname, 'scripted-upstream.ts'), { execArgv: [] });
  children.add(child);
  const report = async () => (await once(child, 'message'))[0] as UpstreamReport;
  const { port } = await report();
  let settings: UpstreamSettings = { faultShare: 0, delayMs: 0 };
  return {
    url: `http://127.0.0.1:${port}`,
    set: (changed) => {
      settings = { ...settings, ...changed };
      const reported = report();
      child.send(settings);
      return reported;
    },
  };
}

/**
 * Starts a gateway in its own folder and waits until it is ready. Without an upstream, it runs the reference server. If
 * the configuration does not specify ports, the system chooses them at every start.
 */
export async function startGateway(
  { folder: groupFolder, children }: ProcessGroup,
  upstreamUrl: string | undefined,
  { config, variables = {} }: { readonly config: GatewayConfig; readonly variables?: NodeJS.ProcessEnv },
): Promise<GatewayProcess> {
  const folder = mkdtempSync(join(groupFolder, 'gateway-'));
  let startedWith = config;
  // Other users must not be able to read files with secrets.
  writeFileSync(join(folder, 'roles.yaml'), await rolesText(), { mode: 0o600 });
  const configure = (changes: GatewayConfig) => {
    const merged: Record<string, unknown> = { ...baseConfig(upstreamUrl) };
    for (const [key, value] of [...Object.entries(startedWith), ...Object.entries(changes)])
      merged[key] = typeof value === 'object' ? { ...(merged[key] as object | undefined), ...value } : value;
    merged['listen'] = { port: 0, adminPort: 0, ...(merged['listen'] as object | undefined) };
    // The file is replaced, so that a reload never reads an incomplete file.
    writeFileSync(join(folder, 'next.yaml'), JSON.stringify(merged, undefined, 2), { mode: 0o600 });
    renameSync(join(folder, 'next.yaml'), join(folder, 'portico.yaml'));
  };
  configure({});
  const errorFile = join(folder, 'stderr.txt');
  writeFileSync(errorFile, '', { mode: 0o600 });
  let child: ChildProcess | undefined;
  let ports = { port: 0, adminPort: 0 };
  const pid = () => (child?.exitCode === null && child.signalCode === null ? (child.pid ?? 0) : 0);
  const errors = () => readFileSync(errorFile, 'utf8');
  const gateway: GatewayProcess = {
    get port() {
      return ports.port;
    },
    get adminPort() {
      return ports.adminPort;
    },
    folder,
    pid,
    rssBytes: () => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid()}/status`, 'utf8'))?.[1] ?? 0) * 1024,
    sockets: () => socketsOf(pid()),
    metric: async (pattern) => {
      const { body } = await rawRequest(ports.adminPort, '/metrics');
      return sumOfSeries(body.toString(), pattern);
    },
    errors,
    signal: (name) => void child?.kill(name),
    configure,
    reload: async (next) => {
      startedWith = next;
      configure({});
      const [before, applied] = [await gateway.metric(RELOADS.all), await gateway.metric(RELOADS.applied)];
      gateway.signal('SIGHUP');
      if (!(await untilReloaded(gateway, before + 1))) throw new Error('the reload did not end');
      return (await gateway.metric(RELOADS.applied)) > applied;
    },
    end: async (name) => {
      if (child === undefined) return null;
      children.delete(child);
      return endOf(child, name);
    },
    start: async () => {
      const earlier = errors().length;
      const stderr = openSync(errorFile, 'a');
      child = spawn(process.execPath, [LAUNCHER, 'serve', '--config', join(folder, 'portico.yaml')], {
        cwd: folder,
        stdio: ['ignore', 'ignore', stderr],
        env: { ...environment(), ...variables },
      });
      closeSync(stderr);
      children.add(child);
      const started = child;
      const giveUpAt = performance.now() + START_MS;
      for (;;) {
        const opened = portsIn(errors().slice(earlier));
        if (opened !== undefined && (await isReady(opened.adminPort))) {
          ports = opened;
          return;
        }
        if (started.exitCode !== null || started.signalCode !== null)
          throw new Error(
            `the gateway ended with ${started.exitCode ?? started.signalCode} before it was ready: ${errors().slice(-2000)}`,
          );
        if (performance.now() > giveUpAt) throw new Error(`the gateway was not ready within ${START_MS / 1000} s`);
        await pause(20);
      }
    },
  };
  await gateway.start();
  return gateway;
}

/** Returns the ports in the gateway's startup message. Returns undefined until the message has been written. */
function portsIn(text: string): { readonly port: number; readonly adminPort: number } | undefined {
  const [, port] = /^ {2}public +http:\/\/[^/]*:(\d+)/m.exec(text) ?? [];
  const [, adminPort] = /^ {2}admin +http:\/\/[^/]*:(\d+) /m.exec(text) ?? [];
  return adminPort === undefined ? undefined : { port: Number(port), adminPort: Number(adminPort) };
}

/** Returns whether `/readyz` returns 200. */
export function isReady(adminPort: number): Promise<boolean> {
  return rawRequest(adminPort, '/readyz').then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Waits until the gateway has counted this many reloads. Returns false if that takes longer than a minute. */
export async function untilReloaded(gateway: GatewayProcess, reloads: number): Promise<boolean> {
  const giveUpAt = performance.now() + 60_000;
  while (performance.now() < giveUpAt) {
    if ((await gateway.metric(RELOADS.all)) >= reloads) return true;
    await pause(50);
  }
  return false;
}

/**
 * Returns the configuration shared by all scenarios: all checks are enforced, timeouts are short, and files are in the
 * working directory. Only the scenario with a load balancer needs a lame-duck period.
 */
function baseConfig(upstreamUrl: string | undefined): Record<string, unknown> {
  return {
    mode: 'strict',
    checks: { responses: 'enforce' },
    upstream: { url: upstreamUrl, idleTimeoutMs: 1000, startupProbe: false },
    listen: { lameDuckSeconds: 0 },
    authentication: { verifier: 'file' },
    roles: { file: 'roles.yaml' },
    // If a check were demoted, some of the faulty responses would be forwarded.
    levels: { demote: { enabled: false } },
  };
}

/**
 * Returns only the environment variables that the gateway needs, so that the shell cannot change the scenario's
 * settings.
 */
function environment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'];
  const passed = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]] as const]));
  return { ...Object.fromEntries(passed), NODE_ENV: 'production' };
}

/** Ends a process with a signal. Returns the exit code once the process has ended. */
export async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
  return child.exitCode;
}

function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).startsWith('socket:');
    } catch {
      // The socket has been closed in the meantime.
      return false;
    }
  }).length;
}

/** Returns the sum of the values of all matching series in the Prometheus text format. */
export function sumOfSeries(text: string, pattern: RegExp): number {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('#') && pattern.test(line))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
