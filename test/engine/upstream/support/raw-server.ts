import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { cleanUpAfterTest } from '../../../builders/clean-up.ts';

/** A request as received on a raw socket. */
export interface RawRequest {
  /** The request line and the headers, exactly as the client wrote them. */
  readonly head: string;
  readonly body: string;
  /** The connection number, starting at 1. */
  readonly connection: number;
  /** The request's number on its connection, starting at 1. */
  readonly turn: number;
  readonly socket: Socket;
}

/** A server whose response bytes the test itself writes. */
export interface RawServer {
  readonly origin: string;
  readonly requests: readonly RawRequest[];
  readonly sockets: ReadonlySet<Socket>;
  /** Returns the number of connections so far. */
  accepted(): number;
  close(): Promise<void>;
}

/** Starts a raw server. It calls `respond` when the head and the declared body of a request have arrived. */
export async function startRawServer(respond: (request: RawRequest) => void): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    let turn = 0;
    let received = '';
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let message = takeMessage(received); message; message = takeMessage(received)) {
        received = message.rest;
        const request = { head: message.head, body: message.body, connection, turn: ++turn, socket };
        requests.push(request);
        respond(request);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const raw: RawServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    sockets,
    accepted: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
  cleanUpAfterTest(raw.close);
  return raw;
}

/** Writes a complete response with a Content-Length. */
export function reply(request: RawRequest, status: number, body: string | Buffer, ...fields: string[]): void {
  const bytes = Buffer.from(body);
  const head = [`HTTP/1.1 ${status} Whatever`, ...fields, `Content-Length: ${bytes.length}`, '', ''].join('\r\n');
  request.socket.write(Buffer.concat([Buffer.from(head, 'latin1'), bytes]));
}

function takeMessage(text: string): { head: string; body: string; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const from = end + 4;
  if (/^transfer-encoding:\s*chunked/im.test(head)) {
    // The search includes the line break before the last chunk, because a chunk itself can end with a 0 and an empty
    // line.
    const last = text.indexOf('\r\n0\r\n\r\n', from - 2);
    return last < 0 ? undefined : { head, body: text.slice(from, last + 2), rest: text.slice(last + 7) };
  }
  const length = Number(/^content-length:\s*(\d+)/im.exec(head)?.[1] ?? 0);
  if (text.length < from + length) return undefined;
  return { head, body: text.slice(from, from + length), rest: text.slice(from + length) };
}
