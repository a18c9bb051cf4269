import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { cleanUpAfterFile } from '../../builders/clean-up.ts';

/** A request as a raw upstream received it. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly body: Buffer;
  /** The number of earlier requests on the connection. */
  readonly earlier: number;
}

/** Writes arbitrary bytes in response to a request, or writes nothing. */
export type Play = (socket: Socket, request: RawRequest) => void;

/** An upstream that writes each response byte by byte, without an HTTP library. */
export interface RawUpstream {
  readonly port: number;
  /** The currently open sockets. */
  readonly sockets: ReadonlySet<Socket>;
  /** Receives each new connection. A test can replace it, for example to leave a TLS handshake incomplete. */
  accept: (socket: Socket) => void;
  /** Resumes listening on the same port. */
  listen(): Promise<void>;
  /** Stops listening and closes all connections, so that new connections are refused. */
  stop(): Promise<void>;
}

const HEAD_END = '\r\n\r\n';

/** Starts a listener that passes each connection to `accept`, and closes it after the last test in the file. */
export async function startRawUpstream(accept: (socket: Socket) => void): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Clients deliberately abort connections in the middle of a response.
    socket.on('error', () => undefined);
    upstream.accept(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const upstream: RawUpstream = {
    port,
    sockets,
    accept,
    async listen() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  cleanUpAfterFile(upstream.stop);
  return upstream;
}

/** Reads the requests on a connection one after another and lets `play` respond to each. */
export function serveRaw(socket: Socket, play: Play): void {
  let received = Buffer.alloc(0);
  let earlier = 0;
  socket.on('data', (part: Buffer) => {
    received = Buffer.concat([received, part]);
    for (let read = readRequest(received); read !== undefined; read = readRequest(received)) {
      received = received.subarray(read.length);
      play(socket, { ...read.request, earlier });
      earlier += 1;
    }
  });
  socket.on('error', () => undefined);
}

/** Returns the first complete request and its length in bytes. */
function readRequest(bytes: Buffer) {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const [method = '', target = ''] = head.split(' ', 2);
  const bodyFrom = headEnd + HEAD_END.length;
  const length = bodyFrom + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  if (bytes.length < length) return undefined;
  return { request: { method, target, body: bytes.subarray(bodyFrom, length) }, length };
}
