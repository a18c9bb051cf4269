import { createServer } from 'node:net';
import { questionPage } from './pages.ts';

// An upstream of which each response takes as many milliseconds as the end of the search text in its request says, such
// as 250 for `q=k17w250`. Requests have no bodies, and each arrives as one piece. The argument is the port.
const page = questionPage('2k');
const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json;charset=UTF-8\r\nContent-Length: ${page.length}\r\n\r\n`;
const response = Buffer.concat([Buffer.from(head), page]);

createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (request) => {
    const delayMs = Number(/[?&]q=k\d+w(\d+)/.exec(request.toString('latin1'))?.[1] ?? 0);
    setTimeout(() => socket.write(response), delayMs);
  });
}).listen(Number(process.argv[2]), '127.0.0.1', 4096);
