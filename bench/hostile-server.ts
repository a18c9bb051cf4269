import { createServer, type Socket } from 'node:net';
import { questionPage } from './pages.ts';

/** The ways in which the second server of a mirror misbehaves. */
export const HOSTILE_MODES = ['hangs', 'drips', 'resets', 'gigabyte', 'redirects', 'cookies', 'refuses'] as const;

/** One way to misbehave. */
export type HostileMode = (typeof HOSTILE_MODES)[number];

const MIB = 1024 * 1024;
const head = (...lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const withBody = (start: string, body: Buffer | string) =>
  Buffer.concat([
    Buffer.from(`${start}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`),
    Buffer.from(body),
  ]);

const RESPOND: Readonly<Record<HostileMode, (socket: Socket) => void>> = {
  hangs: () => undefined,
  drips(socket) {
    socket.write(head('HTTP/1.1 200 OK', 'Content-Type: application/json', `Content-Length: ${MIB}`));
    const timer = setInterval(() => socket.write(' '), 50);
    socket.once('close', () => clearInterval(timer));
  },
  resets: (socket) => void socket.resetAndDestroy(),
  gigabyte(socket) {
    socket.write(head('HTTP/1.1 200 OK', 'Content-Type: application/json', `Content-Length: ${1024 * MIB}`));
    const part = Buffer.alloc(MIB, ' ');
    let left = 1024;
    const send = () => {
      while (left > 0 && !socket.destroyed) {
        left -= 1;
        if (socket.write(part)) continue;
        socket.once('drain', send);
        return;
      }
    };
    send();
  },
  redirects: (socket) =>
    void socket.write(head('HTTP/1.1 302 Found', 'Location: http://127.0.0.1:9/', 'Content-Length: 0')),
  cookies: (socket) =>
    void socket.write(withBody('HTTP/1.1 200 OK\r\nSet-Cookie: JSESSIONID=second', questionPage('2k'))),
  refuses: (socket) =>
    void socket.write(withBody('HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic', '{"error":"Bad credentials"}')),
};

if (import.meta.main) {
  const [port, mode] = process.argv.slice(2);
  const respond = RESPOND[mode as HostileMode];
  createServer((socket) => {
    socket.on('error', () => undefined);
    // Requests have no bodies, and each arrives as one piece.
    socket.on('data', () => respond(socket));
  }).listen(Number(port), '127.0.0.1');
}
