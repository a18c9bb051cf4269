import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadSettings, readSettings } from '../../src/portico-settings.ts';
import { withUpstreamUrl } from '../../src/engine/config/settings.ts';
import { packageRoot } from '../../src/lib/package-root.ts';
import { createGateway } from '../../src/engine/gateway.ts';
import { StartFault } from '../../src/engine/model/fault.ts';
import { createCertificate } from '../builders/certificates.ts';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { cleanUpAfterTest } from '../builders/clean-up.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { tlsFiles } from '../builders/tls.ts';

const QUESTIONS = '/services/v2/question.json';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
});

/** Calls the public side and returns the status and the fingerprint of the server's certificate. */
function callSecurely(url: string, ca: string): Promise<{ status: number; fingerprint: string; etag: unknown }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${QUESTIONS}`,
      { ca, agent: false, servername: 'localhost', headers: { Authorization: basic('admin') } },
      (response) => {
        const peer: PeerCertificate = (response.socket as TLSSocket).getPeerCertificate();
        response.resume();
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            fingerprint: peer.fingerprint256,
            etag: response.headers.etag,
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

describe('a gateway with TLS on the public side', () => {
  it('serves misses and hits, and shows when its certificate expires', async () => {
    const { options, authority, certificate, identity } = tlsFiles();
    const gateway = await startTestGateway({ upstream: fake, config: { listen: { tls: options } } });
    expect(gateway.url).toMatch(/^https:/);
    const first = await callSecurely(gateway.url, authority.cert);
    expect(first).toMatchObject({ status: 200, fingerprint: certificate.fingerprint });
    expect((await callSecurely(gateway.url, authority.cert)).etag).toBe(first.etag);
    expect(await gateway.metric('portico_tls_certificate_not_after_timestamp_seconds')).toBe(identity.notAfter / 1000);
    expect(await gateway.metric('portico_tls_certificate_outdated')).toBe(0);
  });

  it('tells the upstream that the client uses https', async () => {
    const { options, authority } = tlsFiles();
    const gateway = await startTestGateway({
      upstream: fake,
      config: { listen: { tls: options }, cache: { enabled: false } },
    });
    fake.requests.length = 0;
    await callSecurely(gateway.url, authority.cert);
    expect(fake.requests.at(-1)?.headers['x-forwarded-proto']).toBe('https');
  });

  it('uses a new certificate for new connections after a reload', async () => {
    const files = tlsFiles();
    const cwd = tempFolder();
    const env = { PORTICO_CONFIG: join(cwd, 'portico.yaml') };
    const listen = { port: 0, adminPort: 0, drainSeconds: 1, tls: files.options };
    const memory = { file: ':memory:' };
    const roles = { file: join(packageRoot, 'config', 'roles.yaml') };
    writeFileSync(env.PORTICO_CONFIG, JSON.stringify({ listen, ledger: memory, levels: memory, roles }));
    const log: string[] = [];
    const gateway = await createGateway(withUpstreamUrl(loadSettings({ env, cwd }), fake.url), {
      env,
      logStream: { write: (line: string) => void log.push(line) },
      readSettings: () => {
        const { settings, faults } = readSettings({ env, cwd });
        return { settings: withUpstreamUrl(settings, fake.url), faults };
      },
    });
    cleanUpAfterTest(() => gateway.close());
    const next = createCertificate({ issuer: files.authority });
    files.write(next);
    expect(await gateway.reload('signal')).toMatchObject({ outcome: 'applied' });
    expect((await callSecurely(gateway.publicUrl, files.authority.cert)).fingerprint).toBe(next.fingerprint);
    expect(log.join('')).toContain('the TLS certificate was replaced');
    files.write({ ...next, key: 'broken' });
    expect(await gateway.reload('signal')).toMatchObject({
      outcome: 'refused',
      faults: [{ pointer: '/listen/tls/keyFile' }],
    });
    expect((await callSecurely(gateway.publicUrl, files.authority.cert)).fingerprint).toBe(next.fingerprint);
  });

  it('counts a client that does not speak TLS', async () => {
    const { options } = tlsFiles();
    const gateway = await startTestGateway({ upstream: fake, config: { listen: { tls: options } } });
    const plain = gateway.url.replace('https', 'http');
    await expect(fetch(`${plain}${QUESTIONS}`)).rejects.toThrow();
    expect(await gateway.metric('portico_tls_handshake_failures_total')).toBe(1);
  });

  it('runs the requests of the API docs without a certificate of its own', async () => {
    const { options } = tlsFiles();
    const gateway = await startTestGateway({
      upstream: fake,
      config: { listen: { tls: { ...options, clientCertificates: 'required', clientCaFile: options.certFile } } },
    });
    const response = await gateway.admin('/console/api/try', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: gateway.adminUrl },
      body: { method: 'GET', target: QUESTIONS, headers: {}, credential: { name: 'admin', password: 'admin' } },
    });
    expect([response.status, (response.json as { status?: number }).status]).toEqual([200, 200]);
  });

  it('does not start with files that cannot be used, and names each of them', async () => {
    const { options } = tlsFiles();
    const tls = { ...options, certFile: 'missing.pem', keyFile: 'missing-key.pem' };
    const started = startTestGateway({ upstream: fake, config: { listen: { tls } } });
    const fault = await started.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(fault).toBeInstanceOf(StartFault);
    expect((fault as StartFault).faults.map(({ pointer }) => pointer)).toEqual([
      '/listen/tls/certFile',
      '/listen/tls/keyFile',
    ]);
  });
});
