import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { fileReason } from './file-reason.ts';
import { readSecretFile } from './secret-file.ts';

/** The keys that every section with certificates has in common. */
type CertificateKey = 'certFile' | 'keyFile' | 'passphraseFile';

/** The keys of one section of the configuration. */
interface CertificateSection<Authorities extends string> {
  /** The key under which the file with the certificate authorities is configured. */
  readonly authorities: Authorities;
  /** False if the section has no `passphraseFile`, so that its private key must not be encrypted. */
  readonly takesPassphrase: boolean;
}

/** A problem with one of the files. `key` is the key that contains the file's path. The message never quotes the file. */
export interface CertificateFault<Key extends string> {
  readonly key: Key;
  readonly message: string;
}

/** What the files contain, in PEM format, as `tls.createSecureContext` takes it. A file that is not configured is left out. */
export interface CertificateContents {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
}

/** The contents of the files, or all problems with them. */
type CertificateReading<Key extends string> =
  | {
      readonly contents: CertificateContents;
      /** The certificates in `certFile`, the certificate itself first. */
      readonly chain: readonly X509Certificate[];
      readonly faults: readonly [];
    }
  | {
      readonly contents?: undefined;
      readonly chain: readonly X509Certificate[];
      readonly faults: readonly CertificateFault<Key>[];
    };

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads and checks the files of a certificate: that each can be read, that the key belongs to the certificate, and that
 * OpenSSL accepts them together. Reports all problems, not only the first. `paths` contains absolute paths by key.
 */
export function readCertificateFiles<Authorities extends string>(
  paths: { readonly [Key in CertificateKey | Authorities]?: string },
  { authorities, takesPassphrase }: CertificateSection<Authorities>,
): CertificateReading<CertificateKey | Authorities> {
  const faults: CertificateFault<CertificateKey | Authorities>[] = [];
  const read = (key: CertificateKey | Authorities): string | undefined => {
    const path = paths[key];
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      faults.push({ key, message: `the file ${path} cannot be read: ${fileReason(error)}` });
      return undefined;
    }
  };
  const certificates = (key: 'certFile' | Authorities, text: string | undefined): X509Certificate[] => {
    if (text === undefined) return [];
    try {
      const found = (text.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem));
      if (found.length === 0) faults.push({ key, message: 'contains no certificate in PEM format' });
      return found;
    } catch {
      faults.push({ key, message: 'contains a certificate that cannot be read' });
      return [];
    }
  };
  const { passphraseFile } = paths;
  const secret = passphraseFile === undefined ? undefined : readSecretFile(passphraseFile);
  if (secret !== undefined && 'fault' in secret) faults.push({ key: 'passphraseFile', message: secret.fault });
  const passphrase = secret !== undefined && 'text' in secret ? secret.text : undefined;
  const ca = read(authorities);
  certificates(authorities, ca);
  const cert = read('certFile');
  const chain = certificates('certFile', cert);
  const key = read('keyFile');
  const message = key === undefined ? undefined : keyFault(key, passphrase, chain[0], takesPassphrase);
  if (message !== undefined) faults.push({ key: 'keyFile', message });
  if (faults.length > 0) return { chain, faults };
  const contents: CertificateContents = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(passphrase !== undefined && { passphrase }),
  };
  try {
    createSecureContext(contents);
  } catch (error) {
    return { chain, faults: [{ key: 'certFile', message: `cannot be used (${opensslReason(error)})` }] };
  }
  return { contents, chain, faults: [] };
}

function keyFault(
  key: string,
  passphrase: string | undefined,
  leaf: X509Certificate | undefined,
  takesPassphrase: boolean,
): string | undefined {
  try {
    const parsed = createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
    return leaf?.checkPrivateKey(parsed) === false ? 'does not belong to the certificate in certFile' : undefined;
  } catch {
    if (!takesPassphrase) return 'contains no unencrypted private key in PEM format';
    if (!key.includes('ENCRYPTED')) return 'contains no private key in PEM format';
    return passphrase === undefined
      ? 'is encrypted, so passphraseFile is required'
      : 'cannot be decrypted with the passphrase in passphraseFile';
  }
}

/** Returns the reason that OpenSSL gives for an error. The reason never contains any content from the files. */
function opensslReason(error: unknown): string {
  return error instanceof Error && 'reason' in error ? String(error.reason) : 'unknown reason';
}
