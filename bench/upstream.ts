import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { isStamped, pageOf, type PageKind, type PageSize, STAMP } from './pages.ts';

/** A port of the upstream, and the page served on it. */
export interface UpstreamVariant {
  readonly size: PageSize;
  readonly kind: PageKind;
  readonly port: number;
}

// The upstream uses raw sockets, because Node's HTTP server would cost more per request than some of the measured
// servers.
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const MISSING = Buffer.from(
  'HTTP/1.1 404 Not Found\r\nContent-Type: application/json;charset=UTF-8\r\nContent-Length: 21\r\n\r\n{"error":"not found"}',
);

function listen({ size, kind, port }: UpstreamVariant): void {
  const page = pageOf(size, kind);
  const body = kind === 'gzip' ? gzipSync(page) : page;
  const head = [
    'HTTP/1.1 200 OK',
    'Content-Type: application/json;charset=UTF-8',
    ...(kind === 'gzip' ? ['Content-Encoding: gzip', 'Vary: Accept-Encoding'] : []),
    ...(kind === 'tagged' ? ['ETag: "page"'] : []),
    `Content-Length: ${body.length}`,
  ];
  const response = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
  const stampAt = isStamped(kind) ? response.indexOf(STAMP) : -1;
  let stamped = 0;
  createServer((socket) => {
    socket.setNoDelay(true);
    // There is at most one response in progress per connection, so each connection has its own copy of the page, which
    // is stamped in place.
    const own = stampAt < 0 ? response : Buffer.from(response);
    respondToEach(socket, (missing) => {
      if (missing) return MISSING;
      if (stampAt >= 0) own.write(String((stamped += 1)).padStart(STAMP.length, '0'), stampAt, 'latin1');
      return own;
    });
  }).listen(port, '127.0.0.1', 4096);
}

/** Responds as soon as a request's head has arrived, because requests have no bodies. */
function respondToEach(socket: Socket, responseOf: (missing: boolean) => Buffer): void {
  let rest: Buffer | undefined;
  socket.on('data', (chunk: Buffer) => {
    let data = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
    rest = undefined;
    for (;;) {
      const end = data.indexOf(END_OF_HEAD);
      if (end < 0) break;
      const missing = data.toString('latin1', 0, 40).includes('/services/v2/missing');
      socket.write(responseOf(missing));
      if (end + 4 === data.length) return;
      data = data.subarray(end + 4);
    }
    rest = data;
  });
  socket.on('error', () => socket.destroy());
}

for (const variant of JSON.parse(process.argv[2] ?? '[]') as UpstreamVariant[]) listen(variant);
