import type { EventEmitter } from 'node:events';
import type { ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import type { TlsOptions } from '../config/general-options.ts';
import type { Connection } from './connection.ts';
import type { TlsIdentity } from './tls-certificate.ts';

/** What a listener needs to accept TLS connections. */
export interface SecureListening {
  readonly options: TlsOptions;
  readonly identity: TlsIdentity;
  /** Called for every connection that is closed because its handshake failed or took too long. */
  readonly onHandshakeFailed: () => void;
}

/** The parts of a connection that are needed to close it before its TLS handshake is complete. */
type Handshake = Pick<Connection, 'idle' | 'unused' | 'end'>;

/** Creates an HTTPS server. `handshakes` contains connections whose handshakes are incomplete, keyed by peer. */
export function createTlsServer(
  settings: ServerOptions,
  { options, identity, onHandshakeFailed }: SecureListening,
): { readonly server: Server; readonly handshakes: ReadonlyMap<string, Handshake> } {
  const server = createServer({
    ...settings,
    ...identity.context,
    // Clients that require another protocol are refused during the handshake.
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: options.handshakeTimeoutSeconds * 1000,
    requestCert: options.clientCertificates !== 'none',
    rejectUnauthorized: options.clientCertificates === 'required',
  });
  const handshakes = new Map<string, Handshake>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    // A handshake takes only a few round trips, so a closing listener does not wait for it to complete.
    handshakes.set(peer, { idle: true, unused: true, end: () => socket.destroy() });
    socket.once('close', () => handshakes.delete(peer));
  });
  server.on('secureConnection', (socket) => {
    handshakes.delete(peerOf(socket));
    // If the setting is `optional`, a client may omit its certificate, but a certificate that cannot be verified is
    // always refused.
    if (options.clientCertificates !== 'optional' || socket.authorized || !socket.getPeerX509Certificate()) return;
    onHandshakeFailed();
    socket.destroy();
  });
  server.on('tlsClientError', onHandshakeFailed);
  return { server, handshakes };
}

/**
 * Connects the process to its own listener as if a client on the same machine had completed the handshake. To connect
 * over the network, the process would have to trust the listener's certificate and might need a client certificate.
 */
export function connectWithin(server: EventEmitter): Duplex {
  const [client, accepted] = duplexPair();
  server.emit('secureConnection', Object.assign(accepted, { encrypted: true, remoteAddress: '127.0.0.1' }));
  return client;
}

/** Identifies a connection to a listener. A TLS socket and its underlying socket have the same identity. */
const peerOf = ({ remoteAddress, remotePort, localAddress }: Socket) =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
