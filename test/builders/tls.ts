import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { TLS_DEFAULTS, type TlsOptions } from '../../src/engine/config/general-options.ts';
import { readTlsIdentity, type TlsIdentity } from '../../src/engine/http/tls-certificate.ts';
import { createCertificate, type TestCertificate } from './certificates.ts';
import { tempFolder } from './temp-folder.ts';

/** The files of a listener's certificate. */
export interface TlsFiles {
  readonly options: TlsOptions;
  readonly identity: TlsIdentity;
  /** The certificate authority that issued the certificate. */
  readonly authority: TestCertificate;
  readonly certificate: TestCertificate;
  /** Replaces the files. */
  write(certificate: Pick<TestCertificate, 'cert' | 'key'>): void;
}

/** Creates a certificate for localhost and writes it to files. */
export function tlsFiles(given: Partial<TlsOptions> = {}): TlsFiles {
  const folder = tempFolder();
  const options = { ...TLS_DEFAULTS, certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem'), ...given };
  const authority = createCertificate({ name: 'authority' });
  const certificate = createCertificate({ issuer: authority });
  const write = ({ cert, key }: Pick<TestCertificate, 'cert' | 'key'>) => {
    writeFileSync(options.certFile, cert);
    writeFileSync(options.keyFile, key, { mode: 0o600 });
  };
  write(certificate);
  const { identity } = readTlsIdentity(options);
  if (identity === undefined) throw new Error('the test certificate cannot be read');
  return { options, identity, authority, certificate, write };
}

/** Connects to a listener with TLS. The promise resolves after the handshake. */
export function connectTls(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ...options });
    socket.once('secureConnect', () => resolve(socket));
    socket.on('error', reject);
  });
}
