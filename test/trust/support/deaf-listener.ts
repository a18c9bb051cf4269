import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * A thread that forwards connections to a port until it is told to stop accepting them. The thread then blocks. The
 * operating system queues two more connections and drops the first packet of every further connection, so that those
 * connections neither succeed nor fail.
 */
const { port, blocked } = workerData as { port: number; blocked: Int32Array };

const sockets = new Set<Socket>();
const server = createServer((socket) => {
  const onward = connect(port, '127.0.0.1');
  for (const one of [socket, onward]) {
    sockets.add(one);
    one.on('error', () => undefined);
  }
  socket.on('close', () => onward.destroy());
  onward.on('close', () => socket.destroy());
  socket.pipe(onward).pipe(socket);
});
const MAX_QUEUED = 1;
server.listen({ port: 0, host: '127.0.0.1', backlog: MAX_QUEUED }, () => {
  const address = server.address() as AddressInfo;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(address.port);
});
parentPort?.on('message', () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  // The sockets close in the next turn of the event loop.
  setImmediate(() => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage('blocking');
    setImmediate(() => {
      Atomics.wait(blocked, 0, 1);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      parentPort?.postMessage('open');
    });
  });
});
