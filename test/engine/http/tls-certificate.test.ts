import { createPrivateKey } from 'node:crypto';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readTlsIdentity, type TlsFault, watchTlsCertificate } from '../../../src/engine/http/tls-certificate.ts';
import { createCertificate } from '../../builders/certificates.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { tlsFiles, type TlsFiles } from '../../builders/tls.ts';
import { until } from '../../builders/until.ts';

const DAY = 86_400_000;

describe('the files of a certificate', () => {
  it('yield the certificate, its key and the end of its validity', () => {
    const { identity, certificate } = tlsFiles();
    expect(identity.fingerprint).toBe(certificate.fingerprint);
    expect(Math.abs(identity.notAfter - Date.now() - 365 * DAY)).toBeLessThan(DAY);
  });

  it('are valid only as long as every certificate of the chain', () => {
    const { options, authority, certificate } = tlsFiles();
    const soon = createCertificate({ name: 'intermediate', notAfter: new Date(Date.now() + DAY), issuer: authority });
    writeFileSync(options.certFile, certificate.cert + soon.cert);
    const { identity } = readTlsIdentity(options);
    expect((identity?.notAfter ?? 0) - Date.now()).toBeLessThan(DAY);
  });

  it('may contain an encrypted key with its passphrase in a file', () => {
    const { options, certificate } = tlsFiles();
    const encrypted = createPrivateKey(certificate.key).export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'correct horse',
    });
    writeFileSync(options.keyFile, encrypted);
    const passphraseFile = join(dirname(options.keyFile), 'passphrase');
    writeFileSync(passphraseFile, 'correct horse\n');
    expect(readTlsIdentity(options).faults).toEqual([
      { key: 'keyFile', message: 'is encrypted, so passphraseFile is required' },
    ]);
    expect(readTlsIdentity({ ...options, passphraseFile }).faults).toEqual([]);
    writeFileSync(passphraseFile, 'wrong\n');
    expect(readTlsIdentity({ ...options, passphraseFile }).faults).toEqual([
      { key: 'keyFile', message: 'cannot be decrypted with the passphrase in passphraseFile' },
    ]);
  });

  it('are refused with every problem at once', () => {
    const { options } = tlsFiles();
    writeFileSync(options.certFile, 'not a certificate');
    writeFileSync(options.keyFile, 'not a key');
    const missing = join(dirname(options.keyFile), 'missing');
    const { faults } = readTlsIdentity({ ...options, passphraseFile: missing, clientCaFile: missing });
    expect(faults.map(({ key }) => key).toSorted()).toEqual(['certFile', 'clientCaFile', 'keyFile', 'passphraseFile']);
  });

  it('are refused if the key belongs to another certificate', () => {
    const { options } = tlsFiles();
    writeFileSync(options.keyFile, createCertificate().key);
    expect(readTlsIdentity(options).faults).toEqual([
      { key: 'keyFile', message: 'does not belong to the certificate in certFile' },
    ]);
  });
});

describe('a watched certificate', () => {
  const watching = (files: TlsFiles, clock = () => Date.now()) => {
    const replaced: string[] = [];
    const refused: (readonly TlsFault[])[] = [];
    const server = { setSecureContext: vi.fn(), setTicketKeys: vi.fn() };
    const watched = watchTlsCertificate({
      options: files.options,
      identity: files.identity,
      server,
      clock,
      onReplaced: ({ fingerprint }) => void replaced.push(fingerprint),
      onRefused: (faults) => void refused.push(faults),
      intervalMs: 5,
    });
    cleanUpAfterTest(() => watched.close());
    return { watched, server, replaced, refused };
  };

  it('is replaced when its files change', async () => {
    const files = tlsFiles();
    const { watched, server, replaced, refused } = watching(files);
    const next = createCertificate({ notAfter: new Date(Date.now() + 2 * DAY) });
    files.write(next);
    await until(() => replaced.length > 0);
    expect([replaced, refused.flat().filter(({ key }) => key !== 'keyFile')]).toEqual([[next.fingerprint], []]);
    expect(server.setSecureContext).toHaveBeenCalled();
    expect(watched.notAfter()).toBeLessThan(Date.now() + 3 * DAY);
  });

  // Kubernetes updates a mounted secret by replacing a symbolic link, so the linked files themselves do not change.
  it('is replaced when a symbolic link leads to other files', async () => {
    const files = tlsFiles();
    const link = files.options.certFile;
    const folder = dirname(link);
    const [old, next] = [files.certificate, createCertificate({ issuer: files.authority })];
    writeFileSync(join(folder, 'old'), old.cert);
    writeFileSync(join(folder, 'next'), next.cert);
    rmSync(link);
    symlinkSync(join(folder, 'old'), link);
    const { replaced, refused } = watching(files);
    symlinkSync(join(folder, 'next'), `${link}.new`);
    renameSync(`${link}.new`, link);
    // The key does not match this certificate yet.
    await until(() => refused.length > 0);
    writeFileSync(files.options.keyFile, next.key);
    await until(() => replaced.length > 0);
    expect(replaced).toEqual([next.fingerprint]);
  });

  it('stays in use if the changed files are invalid, and the reason is reported once', async () => {
    const files = tlsFiles();
    const { watched, server, refused } = watching(files);
    const before = watched.notAfter();
    writeFileSync(files.options.certFile, 'half a certi');
    await until(() => watched.isOutdated());
    const keys = refused.flat().map(({ key }) => key);
    expect([keys, watched.notAfter(), server.setSecureContext.mock.calls.length]).toEqual([['certFile'], before, 0]);
    // Once the files are valid again, nothing further is reported.
    files.write(files.certificate);
    await until(() => !watched.isOutdated());
    expect(refused.flat().filter(({ key }) => key === 'certFile')).toHaveLength(1);
  });

  it('is still the earlier one if the server cannot use another', () => {
    const files = tlsFiles();
    const { watched, server, replaced } = watching(files);
    const before = watched.notAfter();
    server.setSecureContext.mockImplementation(() => {
      throw new Error('no such cipher');
    });
    expect(() => watched.use({ ...files.identity, notAfter: before + DAY, fingerprint: 'another' })).toThrow('cipher');
    expect([watched.notAfter(), replaced]).toEqual([before, []]);
  });

  it('is not replaced with one that has expired', () => {
    const files = tlsFiles();
    const { watched, server, refused } = watching(files);
    const old = createCertificate({ notAfter: new Date(Date.now() - 1000) });
    files.write(old);
    const { identity } = readTlsIdentity(files.options);
    if (identity === undefined) throw new Error('an expired certificate can be read');
    watched.use(identity);
    expect([server.setSecureContext.mock.calls.length, refused[0]]).toEqual([
      0,
      [{ key: 'certFile', message: 'has expired' }],
    ]);
  });

  // An attacker who obtains the key for session tickets can decrypt all sessions that are resumed with that key.
  it('gets a new key for session tickets every hour', async () => {
    let now = Date.now();
    const { server } = watching(tlsFiles(), () => now);
    now += 3_600_000;
    await until(() => server.setTicketKeys.mock.calls.length > 0);
    now += 3_600_000;
    await until(() => server.setTicketKeys.mock.calls.length > 1);
    const [first, second] = server.setTicketKeys.mock.calls.flat() as Buffer[];
    expect([first?.length, first?.equals(second ?? Buffer.alloc(0))]).toEqual([48, false]);
  });
});
