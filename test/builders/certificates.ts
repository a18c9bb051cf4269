import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';

/** A certificate with its private key, both in PEM format. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  readonly privateKey: KeyObject;
  readonly name: string;
  readonly fingerprint: string;
}

/** The properties of a test certificate. */
interface CertificateOptions {
  /** The common name. A server certificate is also valid for this DNS name and for 127.0.0.1. */
  readonly name?: string;
  /** The time at which the certificate expires. The default is one year from now. */
  readonly notAfter?: Date;
  /** The issuer. By default, the certificate is self-signed and may issue other certificates. */
  readonly issuer?: TestCertificate;
}

/**
 * Creates a real X.509 certificate with an ECDSA key. Node can read certificates but cannot create them. This file
 * therefore writes the few DER structures from RFC 5280 itself, so that tests need neither another program nor a
 * fixture that expires.
 */
export function createCertificate(options: CertificateOptions = {}): TestCertificate {
  const { name = 'localhost', notAfter = new Date(Date.now() + 365 * 86_400_000), issuer } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signature = sequence(oid('2a8648ce3d040302')); // ecdsa-with-SHA256
  const tbs = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))), // version 3
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    signature,
    commonName(issuer?.name ?? name),
    sequence(time(new Date(Math.min(Date.now(), notAfter.getTime()) - 86_400_000)), time(notAfter)),
    commonName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(extension('551d13', basicConstraints(issuer === undefined)), alternativeNames(name))),
  );
  const bits = Buffer.concat([Buffer.from([0]), sign('sha256', tbs, issuer?.privateKey ?? privateKey)]);
  const cert = pem(sequence(tbs, signature, tagged(0x03, bits)));
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return { cert, key, privateKey, name, fingerprint: new X509Certificate(cert).fingerprint256 };
}

function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => tagged(0x30, ...parts);
const oid = (hex: string) => tagged(0x06, Buffer.from(hex, 'hex'));
const commonName = (name: string) => sequence(tagged(0x31, sequence(oid('550403'), tagged(0x0c, Buffer.from(name)))));
const time = (at: Date) => tagged(0x18, Buffer.from(at.toISOString().replaceAll(/[-:T]|\.\d+/g, '')));
const extension = (id: string, value: Buffer) => sequence(oid(id), tagged(0x04, value));
const basicConstraints = (isIssuer: boolean) => sequence(...(isIssuer ? [tagged(0x01, Buffer.from([255]))] : []));
const alternativeNames = (name: string) =>
  extension('551d11', sequence(tagged(0x82, Buffer.from(name)), tagged(0x87, Buffer.from([127, 0, 0, 1]))));

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
