import type { RequestListener } from 'node:http';
import { PROFILE } from '../../../../src/profile/profile.ts';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../../bench/free-port.ts';
import { examine } from '../../../../src/workbench/doctor/examine.ts';
import { examineCertificate } from '../../../../src/workbench/doctor/probes/certificate.ts';
import { createCertificate, type TestCertificate } from '../../../builders/certificates.ts';
import { cleanUpAfterFile } from '../../../builders/clean-up.ts';
import { startFakeUpstream } from '../../../builders/fake-upstream.ts';
import { AUTHORIZATION, healthy, startRawServer } from '../probe-setting.ts';

const authority = createCertificate({ name: 'authority' });
const DAY_MS = 86_400_000;

async function startServer(
  { cert, key }: TestCertificate,
  onRequest: RequestListener = () => undefined,
): Promise<string> {
  const server = createServer({ cert, key }, onRequest);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUpAfterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

const options = { timeoutMs: 20_000, signal: new AbortController().signal };

const examination = {
  ...options,
  profile: PROFILE,
  authorization: AUTHORIZATION,
  idleMs: 100,
  maxConcurrency: 1,
  delayMs: 0,
  onStep: () => undefined,
};

/** Examines a server whose certificate was issued by a trusted authority. */
const examined = async (certificate: TestCertificate) =>
  examineCertificate(await startServer(certificate), { ...options, ca: authority.cert });

const texts = (findings: readonly { readonly severity: string; readonly text: string }[]) =>
  findings.map(({ severity, text }) => `${severity}: ${text}`);

describe('the certificate probe', () => {
  it('reports the protocol, the names and the validity of a good certificate', async () => {
    const { isTrusted, facts, findings } = await examined(createCertificate({ issuer: authority }));
    expect({ isTrusted, findings }).toEqual({ isTrusted: true, findings: [] });
    expect(facts).toEqual([
      expect.stringMatching(/^TLSv1\.3 with /),
      expect.stringMatching(
        /^The certificate is for DNS:localhost, IP Address:127\.0\.0\.1 and valid for 36\d more days\.$/,
      ),
      'The chain has 2 certificates.',
    ]);
  });

  it('reports a certificate that expires soon', async () => {
    const notAfter = new Date(Date.now() + 10.5 * DAY_MS);
    const { isTrusted, findings } = await examined(createCertificate({ issuer: authority, notAfter }));
    expect(isTrusted).toBe(true);
    expect(texts(findings)).toEqual(['high: The certificate expires in 10 days.']);
  });

  it('reports a certificate that has expired', async () => {
    const notAfter = new Date(Date.now() - DAY_MS);
    const { isTrusted, findings } = await examined(createCertificate({ issuer: authority, notAfter }));
    expect(isTrusted).toBe(false);
    expect(texts(findings)).toEqual([
      'critical: The certificate is not trusted (CERT_HAS_EXPIRED).',
      'critical: The certificate has expired.',
    ]);
  });

  it('reports a certificate for another name', async () => {
    const { isTrusted, findings } = await examined(createCertificate({ issuer: authority, name: 'elsewhere.example' }));
    expect(isTrusted).toBe(false);
    expect(texts(findings).join()).toMatch(/not trusted \(.*ALTNAME/);
  });

  it('reports a missing intermediate certificate', async () => {
    const intermediate = createCertificate({ name: 'intermediate' });
    const { findings } = await examined(createCertificate({ issuer: intermediate }));
    expect(findings[0]?.advice).toMatch(/^The server probably does not send its intermediate certificates/);
  });

  it('explains ports without TLS: one that is closed, one that speaks HTTP, and one that never responds', async () => {
    const plain = await startFakeUpstream(healthy);
    await expect(examineCertificate(plain.url.replace('http:', 'https:'), options)).rejects.toThrow(
      'the TLS handshake fails; check whether the URL must start with http://',
    );
    await expect(examineCertificate(`https://127.0.0.1:${await freePort()}`, options)).rejects.toThrow(
      'the server does not accept connections on this port',
    );
    const silent = await startRawServer(() => undefined);
    await expect(examineCertificate(silent.replace('http:', 'https:'), { ...options, timeoutMs: 200 })).rejects.toThrow(
      'the TLS handshake did not finish in time',
    );
  });

  // Anyone who can redirect the connection must not learn the credential, or even the API's paths.
  it('prevents every request to a server that is not trusted', async () => {
    const requests: unknown[] = [];
    const url = await startServer(createCertificate(), (request, response) => {
      requests.push(request.url);
      response.end('{}');
    });
    await expect(examine({ origin: url, basePath: '' }, examination)).rejects.toThrow(
      /The certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    );
    expect(requests).toEqual([]);
  });

  it('is part of an examination, which then uses https', async () => {
    const url = await startServer(createCertificate({ issuer: authority }), (_request, response) => {
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ list: [{ id: 1 }], totalCount: 1 }));
    });
    const { steps } = await examine({ origin: url, basePath: '' }, { ...examination, ca: authority.cert });
    expect(steps.map(({ name, notDone }) => `${name} ${notDone ?? 'done'}`)).toEqual(
      expect.arrayContaining(['certificate done', 'keep-alive done', 'concurrency done']),
    );
  });

  // With http, the credential would cross the network unencrypted before the server could send the redirect.
  it('moves to https if the server redirects there, before it sends the credential', async () => {
    const secure = await startServer(createCertificate({ issuer: authority }), (_request, response) => {
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ list: [{ id: 1 }], totalCount: 1 }));
    });
    const plain = await startFakeUpstream(({ target }) => ({ status: 301, headers: { Location: secure + target } }));
    const { url, findings } = await examine(
      { origin: plain.url.replace('127.0.0.1', 'localhost'), basePath: '' },
      { ...examination, ca: authority.cert },
    );
    expect(url).toBe(secure);
    expect(texts(findings)).toContain(`high: The server redirects to ${secure}.`);
    expect(plain.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});
