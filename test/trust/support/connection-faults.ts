import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import tls from 'node:tls';
import { Worker } from 'node:worker_threads';
import { cleanUpAfterFile } from '../../builders/clean-up.ts';
import { failInvalidNames } from '../../builders/invalid-names.ts';
import { selfSigned } from '../../engine/upstream/support/self-signed.ts';
import type { RawUpstream } from './raw-upstream.ts';
import type { Fault } from './response-faults.ts';

type Accept = RawUpstream['accept'];

/** The address of an upstream whose connections can be broken and repaired. */
interface BreakableConnection {
  readonly url: string;
  readonly break: () => unknown;
  readonly repair: () => unknown;
}

/** A fault that prevents connections. */
export interface ConnectionFault extends Fault {
  /** Returns the address at which the upstream can be reached, and functions that break and repair its connections. */
  readonly prepare: (upstream: RawUpstream) => BreakableConnection | Promise<BreakableConnection>;
  /** True if the first failure opens the gateway's circuit. */
  readonly opensCircuit?: boolean;
}

/** How long an open circuit stays open, in seconds. No situation in the tests lasts this long. */
export const CIRCUIT_SECONDS = 120;

const REFUSED = { built: 'upstream_refused', passed: 'upstream_refused' } as const;
const TIMEOUT = { isSilent: true, built: 'upstream_timeout', passed: 'upstream_timeout', observed: 'waits' } as const;

/** All connection faults. */
export const CONNECTION_FAULTS: readonly ConnectionFault[] = [
  { name: 'refuses connections', prepare: refusing, ...REFUSED },
  {
    name: 'has refused so many connections that the circuit is open',
    prepare: refusing,
    opensCircuit: true,
    built: 'upstream_circuit_open',
    passed: 'upstream_circuit_open',
    observed: 'upstream_refused',
  },
  { name: 'does not accept connections', prepare: deaf, ...TIMEOUT },
  { name: 'has a name that cannot be resolved', prepare: nameless, ...REFUSED },
  { name: 'has an untrusted certificate', prepare: secured(serveUntrusted), ...REFUSED },
  {
    name: 'speaks plain text where TLS is expected',
    prepare: secured(() => (socket) => void socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    ...REFUSED,
  },
  {
    name: 'closes the connection during the TLS handshake',
    prepare: secured(() => (socket) => void socket.once('data', () => socket.destroy())),
    ...REFUSED,
  },
  {
    name: 'stalls during the TLS handshake',
    prepare: secured(() => (socket) => void socket.resume()),
    ...TIMEOUT,
  },
];

function refusing(upstream: RawUpstream): BreakableConnection {
  return { url: `http://127.0.0.1:${upstream.port}`, break: upstream.stop, repair: upstream.listen };
}

/**
 * Returns the address of a thread that forwards connections to the upstream. When the test breaks the upstream, the
 * thread stops accepting connections.
 */
async function deaf(upstream: RawUpstream): Promise<BreakableConnection> {
  const blocked = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('deaf-listener.ts', import.meta.url), {
    workerData: { port: upstream.port, blocked },
  });
  const repair = () => {
    Atomics.store(blocked, 0, 0);
    Atomics.notify(blocked, 0);
    for (const socket of fillers) socket.destroy();
  };
  const fillers: Socket[] = [];
  cleanUpAfterFile(async () => {
    repair();
    await worker.terminate();
  });
  const [port] = (await once(worker, 'message')) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    async break() {
      Atomics.store(blocked, 0, 1);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage('block');
      await once(worker, 'message');
      // The operating system still accepts connections until its own queue is full.
      for (let count = 0; count < 4; count += 1) {
        const filler = connect(port, '127.0.0.1');
        filler.on('error', () => undefined);
        fillers.push(filler);
      }
    },
    async repair() {
      const open = once(worker, 'message');
      repair();
      await open;
    },
  };
}

/** Returns an upstream whose name can be resolved until the test breaks the upstream. */
function nameless(upstream: RawUpstream): BreakableConnection {
  const name = `upstream-${upstream.port}.invalid`;
  const resolved = failInvalidNames();
  resolved.add(name);
  return {
    url: `http://${name}:${upstream.port}`,
    break() {
      resolved.delete(name);
      for (const socket of upstream.sockets) socket.destroy();
    },
    repair: () => resolved.add(name),
  };
}

/**
 * Returns a function that puts TLS in front of an upstream. When the test breaks the upstream, `breakWith` determines
 * how it handles connections.
 */
function secured(breakWith: (plain: Accept) => Accept) {
  return (upstream: RawUpstream): BreakableConnection => {
    const plain = upstream.accept;
    const serve = overTls(trustedCertificate(), plain);
    const broken = breakWith(plain);
    upstream.accept = serve;
    return {
      url: `https://localhost:${upstream.port}`,
      break() {
        upstream.accept = broken;
        for (const socket of upstream.sockets) socket.destroy();
      },
      repair: () => (upstream.accept = serve),
    };
  };
}

let trusted: ReturnType<typeof selfSigned> | undefined;

/** Returns a certificate that this process trusts until all tests in the file have finished. */
function trustedCertificate(): ReturnType<typeof selfSigned> {
  if (trusted !== undefined) return trusted;
  trusted = selfSigned('localhost');
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, trusted.cert]);
  cleanUpAfterFile(() => {
    tls.setDefaultCACertificates(before);
    trusted = undefined;
  });
  return trusted;
}

function serveUntrusted(plain: Accept): Accept {
  return overTls(selfSigned('localhost'), plain);
}

function overTls(certificate: ReturnType<typeof selfSigned>, accept: Accept): Accept {
  const server = tls.createServer(certificate, accept);
  server.on('tlsClientError', () => undefined);
  return (socket) => void server.emit('connection', socket);
}
