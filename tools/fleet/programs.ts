import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { accepts, freePort } from '../../bench/free-port.ts';
import { pathWithSbin } from '../../bench/machine.ts';
import { pause } from '../prove/proof.ts';
import { endOf, type ProcessGroup } from '../prove/load/processes.ts';
import type { UpstreamLog, UpstreamQuestion } from './upstream.ts';

/** The programs in a run that are not part of Portico. */
export interface Programs {
  readonly redis: string;
  readonly balancer: { readonly kind: 'haproxy' | 'nginx'; readonly path: string };
}

/**
 * Finds the programs, including a specific balancer if one is given. If any program is missing, returns instructions
 * for installing it.
 */
export function findPrograms(
  wanted?: Programs['balancer']['kind'],
): Programs | { readonly missing: readonly string[] } {
  const redis = find(['redis-server', 'valkey-server'], process.env['PORTICO_REDIS']);
  const [haproxy, nginx] = (['haproxy', 'nginx'] as const).map((name) =>
    wanted === undefined || wanted === name ? find([name]) : undefined,
  );
  const missing = [
    ...(redis === undefined ? ['redis-server is missing: apt-get install redis-server, or set PORTICO_REDIS'] : []),
    ...(haproxy === undefined && nginx === undefined
      ? [`${wanted ?? 'haproxy or nginx'} is missing: apt-get install ${wanted ?? 'haproxy'}`]
      : []),
  ];
  if (redis === undefined || missing.length > 0) return { missing };
  const balancer =
    haproxy === undefined
      ? ({ kind: 'nginx', path: nginx ?? '' } as const)
      : ({ kind: 'haproxy', path: haproxy } as const);
  return { redis, balancer };
}

function find(commands: readonly string[], given?: string): string | undefined {
  const folders = (pathWithSbin()['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = given === undefined ? commands.flatMap((name) => folders.map((one) => join(one, name))) : [given];
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A Redis server without persistence. */
export interface RedisProcess {
  readonly port: number;
  readonly pid: () => number;
  kill(): Promise<void>;
  /** Restarts the server without data. */
  start(): Promise<void>;
  /** Sends a command whose arguments contain no spaces, and returns its reply as text. */
  ask(command: string): Promise<string>;
}

/** Starts a Redis server without persistence. */
export async function startRedis({ folder, children }: ProcessGroup, path: string): Promise<RedisProcess> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const redis: RedisProcess = {
    port,
    pid: () => child?.pid ?? 0,
    async kill() {
      if (child === undefined) return;
      children.delete(child);
      await endOf(child, 'SIGKILL');
    },
    async start() {
      const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
      child = spawn(path, [...options, '--appendonly', 'no'], { stdio: 'ignore' });
      children.add(child);
      await untilOpen(port, child, 'Redis');
    },
    ask: (command) => askRedis(port, command),
  };
  await redis.start();
  return redis;
}

/** Sends an inline command (RESP 2) and returns its bulk string. */
function askRedis(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let data = Buffer.alloc(0);
    socket.setTimeout(5000, () => socket.destroy(new Error('Redis did not reply')));
    socket.on('error', reject);
    socket.on('data', (part: Buffer) => {
      data = Buffer.concat([data, part]);
      const end = data.indexOf('\r\n');
      const [, length] = /^\$(\d+)/.exec(data.toString('latin1', 0, Math.max(end, 0))) ?? [];
      if (length === undefined || data.length < end + 2 + Number(length) + 2) return;
      socket.destroy();
      resolve(data.toString('utf8', end + 2, end + 2 + Number(length)));
    });
    socket.write(`${command}\r\n`);
  });
}

/** An upstream that runs in a separate process. */
export interface FleetUpstream {
  readonly url: string;
  /** Sets the response delay. Returns what has happened since the last call. */
  read(question?: UpstreamQuestion): Promise<UpstreamLog>;
}

/** Starts the upstream in a separate process. */
export async function startFleetUpstream({ children }: ProcessGroup): Promise<FleetUpstream> {
  const child = fork(join(import.meta.dirname, 'upstream.ts'), { execArgv: [] });
  children.add(child);
  const next = async () => (await once(child, 'message'))[0] as UpstreamLog;
  const { port } = await next();
  return {
    url: `http://127.0.0.1:${port}`,
    read: (question = {}) => {
      const log = next();
      child.send(question);
      return log;
    },
  };
}

/** The address of a gateway behind the balancer. */
export interface Backend {
  readonly port: number;
  readonly adminPort: number;
}

/** A running load balancer. */
export interface BalancerProcess {
  readonly port: number;
  /**
   * Returns how often the balancer retried a request on another gateway. Undefined for nginx, which does not count
   * this.
   */
  repeated(): Promise<number | undefined>;
}

/**
 * Starts the load balancer. If a connection breaks, the balancer sends the request to another gateway unless it is a
 * POST.
 */
export async function startBalancer(
  { folder, children }: ProcessGroup,
  { kind, path }: Programs['balancer'],
  backends: readonly Backend[],
): Promise<BalancerProcess> {
  const port = await freePort();
  const own = join(folder, kind);
  mkdirSync(own, { recursive: true });
  const file = join(own, 'balancer.conf');
  const statistics = join(own, 'stats');
  writeFileSync(file, kind === 'haproxy' ? haproxyText(port, backends, statistics) : nginxText(port, backends));
  const args =
    kind === 'haproxy' ? ['-db', '-f', file] : ['-p', own, '-c', file, '-e', 'error.log', '-g', 'daemon off;'];
  const child = spawn(path, args, { stdio: 'ignore' });
  children.add(child);
  await untilOpen(port, child, kind);
  return {
    port,
    repeated: async () => (kind === 'haproxy' ? repeatedIn(await readStatistics(statistics)) : undefined),
  };
}

/** Reads HAProxy's statistics as CSV. */
function readStatistics(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let text = '';
    socket.on('error', reject);
    socket.on('data', (part: Buffer) => (text += part.toString()));
    socket.on('end', () => resolve(text));
    socket.write('show stat\n');
  });
}

/** Returns the number of retried requests (`wretr`) in HAProxy's statistics, summed over all gateways. */
export function repeatedIn(csv: string): number {
  const [head = '', ...lines] = csv.split('\n');
  const [place, name] = [head.split(',').indexOf('wretr'), head.split(',').indexOf('svname')];
  const rows = lines.map((line) => line.split(',')).filter((cells) => cells[name]?.startsWith('gateway') === true);
  return rows.reduce((sum, cells) => sum + Number(cells[place]), 0);
}

function haproxyText(port: number, backends: readonly Backend[], statistics: string): string {
  const servers = backends.map(
    ({ port: own, adminPort }, index) => `  server gateway${index} 127.0.0.1:${own} check port ${adminPort}`,
  );
  return `global
  nbthread 1
  maxconn 4096
  stats socket ${statistics}
defaults
  mode http
  timeout connect 1s
  timeout client 75s
  timeout server 30s
  timeout check 2s
  option http-keep-alive
  retries 3
  option redispatch 1
frontend public
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  balance roundrobin
  http-reuse safe
  # A POST whose connection was cut may have taken effect, so it is not repeated.
  retry-on conn-failure empty-response
  http-request disable-l7-retry if METH_POST
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host 127.0.0.1
  default-server inter 500ms fastinter 200ms fall 2 rise 1
${servers.join('\n')}
`;
}

// nginx runs as a single process. If it had a master process, killing the master would leave its workers running.
function nginxText(port: number, backends: readonly Backend[]): string {
  return `master_process off;
pid nginx.pid;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  keepalive_timeout 75s; keepalive_requests 1000000000;
  upstream gateways {
${backends.map(({ port: own }) => `    server 127.0.0.1:${own} max_fails=1 fail_timeout=1s;`).join('\n')}
    keepalive 64; keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_pass http://gateways;
      # By default, nginx does not repeat a POST that it has sent.
      proxy_next_upstream error timeout;
      proxy_connect_timeout 1s;
    }
  }
}
`;
}

async function untilOpen(port: number, child: ChildProcess, name: string): Promise<void> {
  const giveUpAt = performance.now() + 15_000;
  while (performance.now() < giveUpAt) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} ended before its port was open`);
    if (await accepts(port)) return;
    await pause(10);
  }
  throw new Error(`${name} did not open port ${port} within 15 s`);
}
