import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_CORE } from '../cores.ts';
import { startProgram } from '../process-tree.ts';
import { MEMBER } from './credentials.ts';
import { idOf, type Peer, type PeerContext } from './peer.ts';

/** What nginx does: forward every request, cache pages behind auth_basic, or cache and compress them. */
export type NginxKind = 'pass' | 'cache' | 'gzip';

/** The options for an nginx server. */
export interface NginxOptions {
  /** Adds a buffered access log, a cache of open files and `sendfile`, which reduce nginx's CPU time per request. */
  readonly tuned?: boolean;
  /** Distinguishes peers of the same kind in one scenario. */
  readonly note?: string;
}

const LABELS: Readonly<Record<NginxKind, string>> = {
  pass: 'nginx proxy_pass',
  cache: 'nginx proxy_cache + auth_basic + access_log',
  gzip: 'nginx proxy_cache + auth_basic + access_log, gzip on',
};

/**
 * Creates an nginx peer with one worker. With `gzip on`, nginx compresses every response, because it could cache
 * compressed responses only with an additional module.
 */
export function nginx(kind: NginxKind, { tuned = false, note }: NginxOptions = {}): Peer {
  const notes = [...(tuned ? ['tuned'] : []), ...(note === undefined ? [] : [note])];
  return {
    id: idOf(`nginx-${kind}`, notes.length === 0 ? undefined : notes.join(' ')),
    label: [LABELS[kind], ...notes].join(', '),
    authenticates: kind !== 'pass',
    needs: 'nginx',
    start: async (context) => {
      const folder = join(context.folder, `nginx-${context.port}`);
      mkdirSync(folder, { recursive: true });
      const configuration = configurationOf(kind, tuned, context);
      writeFileSync(join(folder, 'nginx.conf'), configuration);
      // A plain-text password makes auth_basic as cheap as possible. With a hash, nginx would have to verify each
      // request's password against it.
      writeFileSync(join(folder, 'passwords'), `${MEMBER.name}:{PLAIN}${MEMBER.password}\n`);
      const running = await startProgram({
        name: 'nginx',
        command: 'nginx',
        args: ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log', '-g', 'daemon off;'],
        core: SERVER_CORE,
        port: context.port,
        output: join(folder, 'access.log'),
      });
      return { running, port: context.port, configuration };
    },
  };
}

function configurationOf(kind: NginxKind, tuned: boolean, { port, upstreamPort }: PeerContext): string {
  const caches = kind !== 'pass';
  const lines = [
    caches && 'proxy_cache_path cache levels=1:2 keys_zone=pages:256m max_size=4g inactive=1d use_temp_path=off;',
    'client_body_temp_path body;',
    'proxy_temp_path proxy;',
    'fastcgi_temp_path fastcgi;',
    'uwsgi_temp_path uwsgi;',
    'scgi_temp_path scgi;',
    caches ? `access_log access.log combined${tuned ? ' buffer=64k flush=1s' : ''};` : 'access_log off;',
    tuned && 'open_file_cache max=1000 inactive=1d;',
    tuned && 'open_file_cache_valid 1d;',
    tuned && 'sendfile on;',
    tuned && 'tcp_nopush on;',
    'keepalive_timeout 75s;',
    'keepalive_requests 1000000000;',
    kind === 'gzip' && 'gzip on;',
    kind === 'gzip' && 'gzip_proxied any;',
    kind === 'gzip' && 'gzip_types application/json;',
    `upstream legacy { server 127.0.0.1:${upstreamPort}; keepalive 300; keepalive_requests 1000000000; }`,
  ];
  const server = [
    `listen 127.0.0.1:${port} backlog=4096;`,
    caches && 'auth_basic "bench";',
    caches && 'auth_basic_user_file passwords;',
    caches && 'proxy_cache pages;',
    caches && 'proxy_cache_valid 200 1d;',
    'proxy_http_version 1.1;',
    'proxy_set_header Connection "";',
    'proxy_buffers 16 32k;',
    'location / { proxy_pass http://legacy; }',
  ];
  const indent = (all: readonly (string | false)[], by: string) =>
    all.filter((line) => line !== false).map((line) => `${by}${line}`);
  return [
    // If started as root without this directive, nginx would run its worker as a user who cannot read the run's folder.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'worker_processes 1;',
    'pid nginx.pid;',
    'events { worker_connections 4096; }',
    'http {',
    ...indent(lines, '  '),
    '  server {',
    ...indent(server, '    '),
    '  }',
    '}',
    '',
  ].join('\n');
}
