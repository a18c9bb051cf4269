import { describe, expect, it } from 'vitest';
import { toAuthorization } from '../../../src/lib/basic-credentials.ts';
import { IDENTITY_DEFAULTS } from '../../../src/engine/identity/identity-options.ts';
import { createUpstreamVerifier } from '../../../src/engine/identity/upstream-verifier.ts';
import { ProbeFailure, UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import { authenticating, basic, START } from './identity-fixtures.ts';

const HOME = '192.0.2.1';

const ALICE = { name: 'alice', password: 'alice', authorization: toAuthorization('alice', 'alice') };

const statusOf = (status: number | (() => number)) => (typeof status === 'number' ? status : status());

/**
 * Creates an upstream that returns `right` for alice and `wrong` for everyone else. Either value can be a function
 * that throws.
 */
function upstream(right: number | (() => number), wrong: number | (() => number)) {
  const state = { right, wrong, now: START };
  const probed: string[] = [];
  const verifier = createUpstreamVerifier({
    options: { ...IDENTITY_DEFAULTS.probe, path: '/services/v2/jobs/gdpr/0.json', concurrency: 1, queue: 0 },
    calibrationSeconds: 300,
    clock: () => state.now,
    probe: async (authorization, signal) => {
      probed.push(authorization);
      expect(signal).toBeInstanceOf(AbortSignal);
      return { status: statusOf(authorization === ALICE.authorization ? state.right : state.wrong) };
    },
  });
  return { state, probed, verifier };
}

/** Creates a verifier whose probes time out after five milliseconds. */
const verifierOf = (probe: (signal: AbortSignal) => Promise<{ status: number }>) =>
  createUpstreamVerifier({
    options: { ...IDENTITY_DEFAULTS.probe, timeoutMs: 5 },
    calibrationSeconds: 300,
    clock: () => START,
    probe: (_authorization, signal) => probe(signal),
  });

const refused = () => {
  throw new UpstreamFailure('refused', { retryAfterSeconds: 9 });
};

describe('the upstream verifier (docs/rules.md §2)', () => {
  it.each([200, 400, 404])('accepts a credential on status %i', async (status) => {
    await expect(upstream(status, 401).verifier.verify(ALICE, false, HOME)).resolves.toEqual({ kind: 'valid' });
  });

  it.each([201, 204, 301, 302, 401, 403, 405, 410, 418])('refuses a credential on status %i', async (status) => {
    await expect(upstream(status, 401).verifier.verify(ALICE, false, HOME)).resolves.toEqual({ kind: 'invalid' });
  });

  it.each([408, 429, 500, 502, 503, 504])('does not decide about a credential on status %i', async (status) => {
    await expect(upstream(status, 401).verifier.verify(ALICE, false, HOME)).resolves.toMatchObject({
      kind: 'unavailable',
      retryAfterSeconds: 5,
    });
  });

  it('turns a transport failure into 503 with its retry time, never into 401', async () => {
    const { ask } = authenticating(upstream(refused, 401).verifier);
    await expect(ask(basic('alice'))).rejects.toMatchObject({
      code: 'verification_unavailable',
      headers: { 'Retry-After': '9' },
    });
  });

  it('distinguishes a slow upstream, a closed connection and a failing status', async () => {
    const slow = verifierOf(
      (signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new UpstreamFailure('aborted')));
        }),
    );
    await expect(slow.verify(ALICE, false, HOME)).resolves.toMatchObject({ cause: { kind: 'deadline' } });
    const failing = verifierOf(() => Promise.resolve({ status: 503 }));
    await expect(failing.verify(ALICE, false, HOME)).resolves.toMatchObject({ cause: new ProbeFailure(503) });
  });

  it('is unavailable, rather than refusing, if too many probes are waiting', async () => {
    const { verifier } = upstream(200, 401);
    await verifier.calibrate();
    const both = [
      verifier.verify(ALICE, false, HOME),
      verifier.verify({ ...ALICE, authorization: 'Basic b' }, false, HOME),
    ];
    await expect(Promise.all(both)).resolves.toMatchObject([{ kind: 'valid' }, { kind: 'unavailable' }]);
  });
});

describe('the calibration of the probe (docs/rules.md §2)', () => {
  it('precedes the first verification, with a random credential', async () => {
    const { verifier, probed } = upstream(404, 401);
    await verifier.verify(ALICE, false, HOME);
    await verifier.verify(ALICE, false, HOME);
    expect(probed).toHaveLength(3);
    expect(probed[0]).not.toBe(ALICE.authorization);
    await verifier.calibrate();
    expect(probed[3]).not.toBe(probed[0]);
  });

  it('reports a probe that accepts every credential as unusable, with a configuration error', async () => {
    const { verifier } = upstream(404, 404);
    await expect(verifier.calibrate()).resolves.toMatchObject({
      kind: 'unusable',
      fault: {
        pointer: '/authentication/probe',
        message: expect.stringContaining('/services/v2/jobs/gdpr/0.json') as string,
      },
    });
    const { ask } = authenticating(verifier);
    await expect(ask(basic('alice'))).rejects.toMatchObject({ code: 'verification_unavailable' });
  });

  it('is pending until the upstream responds, and no credential is verified before', async () => {
    const { verifier, state } = upstream(200, refused);
    await expect(verifier.calibrate()).resolves.toMatchObject({ kind: 'pending' });
    await expect(verifier.verify(ALICE, false, HOME)).resolves.toMatchObject({ kind: 'unavailable', unusable: false });
    state.wrong = 401;
    await expect(verifier.verify(ALICE, false, HOME)).resolves.toEqual({ kind: 'valid' });
  });

  it('is repeated periodically, and its failure clears verified credentials', async () => {
    const { verifier, state } = upstream(200, 401);
    const { ask } = authenticating(verifier, { cacheSeconds: 3600 });
    await ask(basic('alice'));
    state.wrong = 200;
    state.now += 299_999;
    await expect(ask(basic('mallory'))).resolves.toBeDefined();
    state.now += 1;
    await expect(ask(basic('eve'))).rejects.toMatchObject({ code: 'verification_unavailable' });
    await expect(ask(basic('alice'))).rejects.toMatchObject({ code: 'verification_unavailable' });
    state.wrong = 401;
    await expect(verifier.calibrate()).resolves.toEqual({ kind: 'calibrated' });
    await expect(ask(basic('alice'))).resolves.toBeDefined();
  });

  it('stays valid while a repetition gets no response', async () => {
    const { verifier, state } = upstream(200, 401);
    await verifier.calibrate();
    state.now += 300_000;
    state.wrong = refused;
    await expect(verifier.calibrate()).resolves.toEqual({ kind: 'calibrated' });
    await expect(verifier.verify(ALICE, false, HOME)).resolves.toEqual({ kind: 'valid' });
  });

  it('stays unusable while a repetition gets no response', async () => {
    const { verifier, state } = upstream(200, 200);
    await verifier.calibrate();
    state.wrong = refused;
    await expect(verifier.calibrate()).resolves.toMatchObject({ kind: 'unusable' });
  });

  it('runs once for concurrent callers', async () => {
    const { verifier, probed } = upstream(200, 401);
    await Promise.all([verifier.calibrate(), verifier.calibrate(), verifier.verify(ALICE, false, HOME)]);
    expect(probed).toHaveLength(2);
  });
});
