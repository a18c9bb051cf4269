import { constants, randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Server } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { TlsOptions } from '../config/general-options.ts';
import { type CertificateFault, readCertificateFiles } from '../../lib/certificate-files.ts';
import type { Clock } from '../../lib/clock.ts';

/** The certificate and key of the public listener, as read from their files. */
export interface TlsIdentity {
  readonly context: SecureContextOptions;
  /** The earliest expiry time of the certificates in the chain, in epoch milliseconds. */
  readonly notAfter: number;
  /** The certificate's SHA-256 fingerprint, for the log. */
  readonly fingerprint: string;
}

/** A problem with one of the files. `key` is the key under `listen.tls` that contains the file's path. */
export type TlsFault = CertificateFault<keyof TlsOptions>;

/** The result of reading the files: the identity, or all problems with the files. */
type TlsReading =
  | { readonly identity: TlsIdentity; readonly faults: readonly [] }
  | { readonly identity?: undefined; readonly faults: readonly TlsFault[] };

/**
 * The TLS 1.2 cipher suites from Mozilla's "intermediate" recommendation, except those that need Diffie-Hellman
 * parameters. All of these suites provide forward secrecy and authenticated encryption. For TLS 1.3, OpenSSL selects
 * the suites.
 */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** Reads and checks the files. Reports all problems, not only the first. */
export function readTlsIdentity(options: TlsOptions): TlsReading {
  const section = { authorities: 'clientCaFile', takesPassphrase: true } as const;
  const { contents, chain, faults } = readCertificateFiles(options, section);
  const [leaf] = chain;
  if (contents === undefined || leaf === undefined) return { faults };
  const context: SecureContextOptions = {
    ...contents,
    ciphers: CIPHERS,
    honorCipherOrder: false,
    minVersion: options.minVersion === '1.3' ? 'TLSv1.3' : 'TLSv1.2',
    // With renegotiation (TLS 1.2), a client could make the server compute many handshakes on one connection.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // New ticket keys invalidate earlier session tickets, so resuming a session cannot bypass the check of client
    // certificates.
    ticketKeys: randomBytes(48),
  };
  const notAfter = Math.min(...chain.map((one) => Date.parse(one.validTo)));
  return { identity: { context, notAfter, fingerprint: leaf.fingerprint256 }, faults: [] };
}

/** A running listener's certificate, which is replaced without a restart when its files change. */
export interface TlsCertificate {
  /**
   * Uses a newly read certificate for new connections. Open connections keep the old one. An expired certificate does
   * not replace one that is still valid. If this throws, the earlier certificate stays in use.
   */
  use(next: TlsIdentity): void;
  /** When the certificate expires, in epoch milliseconds. */
  notAfter(): number;
  /** True if the files have changed since the certificate was read, but the new certificate cannot be used. */
  isOutdated(): boolean;
  /** Stops watching the files. */
  close(): void;
}

interface WatchParts {
  readonly options: TlsOptions;
  readonly identity: TlsIdentity;
  readonly server: Pick<Server, 'setSecureContext' | 'setTicketKeys'>;
  readonly clock: Clock;
  readonly onReplaced: (identity: TlsIdentity) => void;
  /** Called with the reasons why the new certificate cannot be used. The old certificate stays in use. */
  readonly onRefused: (faults: readonly TlsFault[]) => void;
  /** How often the files are checked for changes, in milliseconds. */
  readonly intervalMs?: number;
}

const CHECK_MS = 60_000;

/**
 * How long session tickets are encrypted with the same key, in milliseconds. The key is replaced regularly because a
 * stolen key can decrypt all sessions that used it.
 */
const TICKET_KEY_MS = 3_600_000;

const EXPIRED: TlsFault = { key: 'certFile', message: 'has expired' };

/**
 * Watches the files of a listener's certificate and replaces the certificate when they change. The files are polled,
 * because change notifications do not work on all file systems and mounted volumes.
 */
export function watchTlsCertificate(parts: WatchParts): TlsCertificate {
  const { options, server, clock, onReplaced, onRefused, intervalMs = CHECK_MS } = parts;
  let current = parts.identity;
  let seen = versionOf(options);
  let isOutdated = false;
  let ticketsUntil = clock() + TICKET_KEY_MS;
  const refuse = (faults: readonly TlsFault[]) => {
    isOutdated = true;
    onRefused(faults);
  };
  const use = (next: TlsIdentity) => {
    if (next.notAfter <= clock() && current.notAfter > clock()) {
      refuse([EXPIRED]);
      return;
    }
    server.setSecureContext(next.context);
    const isSame = next.fingerprint === current.fingerprint;
    isOutdated = false;
    current = next;
    ticketsUntil = clock() + TICKET_KEY_MS;
    if (!isSame) onReplaced(next);
  };
  const check = () => {
    const version = versionOf(options);
    if (version !== seen) {
      seen = version;
      const { identity, faults } = readTlsIdentity(options);
      if (identity === undefined) refuse(faults);
      else use(identity);
    }
    if (clock() < ticketsUntil) return;
    ticketsUntil = clock() + TICKET_KEY_MS;
    server.setTicketKeys(randomBytes(48));
  };
  const timer = setInterval(check, intervalMs).unref();
  return { use, notAfter: () => current.notAfter, isOutdated: () => isOutdated, close: () => clearInterval(timer) };
}

/** Returns a string that changes whenever one of the files changes, even when only a symbolic link is replaced. */
function versionOf({ certFile, keyFile, passphraseFile, clientCaFile }: TlsOptions): string {
  const versions = [certFile, keyFile, passphraseFile, clientCaFile].map((path) => {
    const stat = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? '-' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`;
  });
  return versions.join(' ');
}
