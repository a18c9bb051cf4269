import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MEMBER } from './credentials.ts';
import type { Peer, PeerContext } from './peer.ts';

/**
 * Creates an nginx peer with one worker, which checks the same credential as Portico and caches pages. It is tuned: with
 * a buffered log, a cache of open files and `sendfile`.
 */
export function nginx(): Peer {
  return {
    label: 'tuned nginx',
    needs: 'nginx',
    prepare: (context) => {
      const { folder, port } = context;
      writeFileSync(join(folder, 'nginx.conf'), configurationOf(context));
      // A plain-text password makes auth_basic as cheap as possible. With a hash, nginx would have to verify each
      // request's password against it.
      writeFileSync(join(folder, 'passwords'), `${MEMBER.name}:{PLAIN}${MEMBER.password}\n`);
      const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log', '-g', 'daemon off;'];
      return Promise.resolve({ command: 'nginx', args, folder, port, log: 'access.log' });
    },
  };
}

function configurationOf({ port, upstreamPort }: PeerContext): string {
  // If started as root without `user`, nginx would run its worker as a user who cannot read the run's folder.
  return `${process.getuid?.() === 0 ? 'user root;\n' : ''}worker_processes 1;
pid nginx.pid;
events { worker_connections 4096; }
http {
  proxy_cache_path cache levels=1:2 keys_zone=pages:16m max_size=1g inactive=1d use_temp_path=off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  access_log access.log combined buffer=64k flush=1s;
  open_file_cache max=1000 inactive=1d;
  open_file_cache_valid 1d;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 75s;
  keepalive_requests 1000000000;
  upstream legacy { server 127.0.0.1:${upstreamPort}; keepalive 300; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    auth_basic "bench";
    auth_basic_user_file passwords;
    proxy_cache pages;
    proxy_cache_valid 200 1d;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_buffers 16 32k;
    location / { proxy_pass http://legacy; }
  }
}
`;
}
