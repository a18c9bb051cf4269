import { createServer, type Socket } from 'node:net';
import { PAGES, questionPage, STAMP } from './pages.ts';

// The upstream uses raw sockets, because Node's HTTP server would cost more per request than some of the measured
// servers. Its arguments are a port for each page.
const END_OF_HEAD = Buffer.from('\r\n\r\n');

function listen(page: Buffer, port: number): void {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json;charset=UTF-8\r\nContent-Length: ${page.length}\r\n\r\n`;
  const response = Buffer.concat([Buffer.from(head), page]);
  const stampAt = response.indexOf(STAMP);
  let stamped = 0;
  createServer((socket) => {
    socket.setNoDelay(true);
    // There is at most one response in progress per connection, so each connection has its own copy of the page, which
    // is stamped in place.
    const own = Buffer.from(response);
    respondToEach(socket, () => {
      own.write(String((stamped += 1)).padStart(STAMP.length, '0'), stampAt, 'latin1');
      return own;
    });
  }).listen(port, '127.0.0.1', 4096);
}

/** Responds as soon as a request's head has arrived, because requests have no bodies. */
function respondToEach(socket: Socket, next: () => Buffer): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    let data: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = data.indexOf(END_OF_HEAD); end >= 0; end = data.indexOf(END_OF_HEAD)) {
      socket.write(next());
      data = data.subarray(end + END_OF_HEAD.length);
    }
    rest = Buffer.from(data);
  });
  socket.on('error', () => socket.destroy());
}

for (const [at, { size, undocumented }] of PAGES.entries())
  listen(questionPage(size, { undocumented }), Number(process.argv[2 + at]));
