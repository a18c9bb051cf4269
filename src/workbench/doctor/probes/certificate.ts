import { isIP } from 'node:net';
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { DAY_MS } from '../../../lib/clock.ts';
import { failureHint } from '../../../engine/model/failure-hints.ts';
import { toTransportFailure } from '../../../engine/upstream/failures/transport-failure.ts';
import { applicable, type DoctorFinding } from '../probe.ts';
import { CannotProbe } from '../probe-client.ts';

interface CertificateOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Additional certificate authorities, in PEM format. */
  readonly ca?: string | undefined;
}

interface CertificateReport {
  readonly facts: readonly string[];
  readonly findings: readonly DoctorFinding[];
  /** True if Portico would trust the server's certificate and connect. */
  readonly isTrusted: boolean;
}

const WARN_DAYS = 21;

/**
 * Performs a TLS handshake without sending a request, so that an untrusted server receives no credential. Throws
 * `CannotProbe` if the port does not use TLS.
 */
export async function examineCertificate(origin: string, options: CertificateOptions): Promise<CertificateReport> {
  const socket = await handshake(new URL(origin), options);
  try {
    const certificate = socket.getPeerCertificate(true);
    const reason = socket.authorized ? undefined : String(socket.authorizationError);
    const days = Math.floor((Date.parse(certificate.valid_to) - Date.now()) / DAY_MS);
    const protocol = socket.getProtocol() ?? 'unknown';
    return {
      isTrusted: reason === undefined,
      facts: [
        `${protocol} with ${socket.getCipher().name}.`,
        `The certificate is for ${namesOf(certificate)} and valid for ${days} more days.`,
        `The chain has ${chainLength(certificate)} certificates.`,
      ],
      findings: applicable([
        reason !== undefined && untrusted(reason),
        days < WARN_DAYS && expiring(days),
        /^TLSv1(?:\.1)?$/.test(protocol) && outdated(protocol),
      ]),
    };
  } finally {
    socket.destroy();
  }
}

function handshake({ hostname, port }: URL, { timeoutMs, signal, ca }: CertificateOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({
      host,
      port: port === '' ? 443 : Number(port),
      ca,
      // Verification errors are reported in the result. Nothing is sent on this connection.
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
    });
    const fail = (reason: string) => {
      socket.destroy();
      reject(new CannotProbe(reason));
    };
    const abort = () => fail('interrupted');
    const release = () => {
      socket.setTimeout(0);
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.setTimeout(timeoutMs, () => fail('the TLS handshake did not finish in time'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      release();
      const { facts } = toTransportFailure(error, 'connecting');
      fail(facts === undefined ? 'the TLS handshake failed' : failureHint(facts));
    });
    socket.once('secureConnect', () => {
      release();
      resolve(socket);
    });
  });
}

const namesOf = ({ subjectaltname, subject }: DetailedPeerCertificate): string =>
  subjectaltname ?? [subject?.CN ?? 'no name'].flat().join(', ');

function chainLength(certificate: DetailedPeerCertificate): number {
  const seen = new Set<string>();
  for (let next = certificate; next?.fingerprint256 && !seen.has(next.fingerprint256); next = next.issuerCertificate)
    seen.add(next.fingerprint256);
  return seen.size;
}

const untrusted = (reason: string): DoctorFinding => ({
  severity: 'critical',
  text: `The certificate is not trusted (${reason}).`,
  advice:
    reason === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
      ? 'The server probably does not send its intermediate certificates. Complete the chain on the server.'
      : 'Portico refuses to connect. Correct the certificate, or add its authority with NODE_EXTRA_CA_CERTS=FILE.',
});

const expiring = (days: number): DoctorFinding => ({
  severity: days < 0 ? 'critical' : 'high',
  text: days < 0 ? 'The certificate has expired.' : `The certificate expires in ${days} days.`,
  advice: 'Renew it: with an expired certificate, every request through Portico gets a 502.',
});

const outdated = (protocol: string): DoctorFinding => ({
  severity: 'medium',
  text: `The server negotiates ${protocol}.`,
  advice: 'TLS 1.0 and 1.1 are deprecated (RFC 8996). Enable TLS 1.2 or 1.3 on the server.',
});
