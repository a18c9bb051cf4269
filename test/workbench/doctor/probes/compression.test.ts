import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compressionProbe } from '../../../../src/workbench/doctor/probes/compression.ts';
import type { FakeHandler } from '../../../builders/fake-upstream.ts';
import { healthy, runProbe, texts, withHeaders } from '../probe-setting.ts';

describe('the compression probe', () => {
  const gzipped: FakeHandler = async (request, response) => {
    const asked = /gzip/.test(String(request.headers['accept-encoding']));
    const usual = await healthy(request, response);
    if (!asked) return usual;
    const body = gzipSync(JSON.stringify(usual?.json));
    return { ...usual, body, headers: { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' } };
  };

  it('accepts honest compression', async () => {
    const result = await runProbe(compressionProbe, gzipped);
    expect(texts(result)).toEqual([]);
    expect(result.facts.join()).toMatch(/sends gzip: \d+ instead of \d+ bytes/);
  });

  it('reports a body that is not compressed although the header says so', async () => {
    const result = await runProbe(
      compressionProbe,
      withHeaders({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' }),
    );
    expect(texts(result)).toContain(
      'critical: Asked for gzip, the server sends Content-Encoding: gzip, but the body is not compressed.',
    );
  });

  it('reports compression without a label, and compression that nobody asked for', async () => {
    const unlabeled: FakeHandler = () => ({ body: gzipSync('[]'), headers: { 'Content-Type': 'application/json' } });
    expect(texts(await runProbe(compressionProbe, unlabeled))).toEqual([
      'critical: Asked for gzip, the server sends gzip without Content-Encoding.',
      'critical: Asked for identity, the server sends gzip without Content-Encoding.',
    ]);
    const always: FakeHandler = () => ({ body: gzipSync('[]'), headers: { 'Content-Encoding': 'gzip' } });
    expect(texts(await runProbe(compressionProbe, always))).toEqual([
      'low: The server sends gzip although the client asked for identity.',
      'medium: Compressed responses do not have Vary: Accept-Encoding.',
    ]);
  });
});
