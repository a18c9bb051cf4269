import type { Logger } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Authenticator } from '../../../src/engine/identity/create-authenticator.ts';
import { createVerifierTests } from '../../../src/engine/identity/verifier-tests.ts';
import type { Calibration } from '../../../src/engine/identity/verifier.ts';
import { StartFault } from '../../../src/engine/model/fault.ts';
import { failureOf } from '../../builders/exchange.ts';
import { REAL, settingsOf } from '../../builders/settings-of.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const CALIBRATED: Calibration = { kind: 'calibrated' };
const PENDING: Calibration = { kind: 'pending', cause: 'down' };
const FAULT = { source: 'configuration', pointer: '/authentication/probe', message: 'accepts a wrong credential' };
const UNUSABLE: Calibration = { kind: 'unusable', fault: FAULT };

/** Starts calibration with a verifier that returns these results in order and then repeats the last one. */
function calibrating(
  config: Readonly<Record<string, unknown>>,
  ...found: (Calibration | Promise<Calibration> | Error)[]
) {
  const tries: number[] = [];
  const logged: unknown[] = [];
  const authenticator = {
    calibrate: () => {
      tries.push(Date.now());
      const one = found[Math.min(tries.length, found.length) - 1] ?? CALIBRATED;
      return one instanceof Error ? Promise.reject(one) : Promise.resolve(one);
    },
  } as Pick<Authenticator, 'calibrate'>;
  const log = (level: string) => (entry: { calibration: string }) => logged.push([level, entry.calibration]);
  const logger = { info: log('info'), warn: log('warn') } as unknown as Logger;
  const tests = createVerifierTests(settingsOf(config), { authenticator, logger });
  return { tries, logged, started: tests.begin().then(() => tests) };
}

const enforced = {
  ...REAL,
  mode: 'strict',
  authentication: { verifier: 'upstream', calibrationSeconds: 600 },
  roles: { unmapped: 'delegate' },
};

describe('the tests of the verifier', () => {
  it('is complete at once for the verifier file', async () => {
    const { tries, started } = calibrating({});
    const { state } = await started;
    expect([state.kind, state.needed, tries.length]).toEqual(['calibrated', undefined, 0]);
  });

  it('sends no request to the upstream in observe mode', async () => {
    const { tries, started } = calibrating({ ...REAL, mode: 'observe' });
    const { state } = await started;
    await vi.advanceTimersByTimeAsync(10_000_000);
    expect([state, tries]).toEqual([{ kind: 'pending', needed: false }, []]);
  });

  it('sends a request if a single operation enforces authentication', async () => {
    const operations = { listQuestions: { checks: { authentication: 'enforce' } } };
    const { tries, started } = calibrating({ ...enforced, mode: 'observe', operations }, CALIBRATED);
    const { state, stop } = await started;
    stop();
    expect([state, tries.length]).toEqual([{ kind: 'calibrated', needed: true }, 1]);
  });

  it('reports a configuration error with the place of the probe if a wrong credential is accepted', async () => {
    const { tries, started } = calibrating(enforced, UNUSABLE);
    const error = await failureOf(started);
    expect(error).toBeInstanceOf(StartFault);
    expect((error as StartFault).faults).toMatchObject([
      { message: FAULT.message, source: expect.stringMatching(/portico\.yaml/) as string },
    ]);
    await vi.advanceTimersByTimeAsync(10_000_000);
    expect(tries).toHaveLength(1);
  });

  it('leaves the gateway not ready while the upstream does not respond, and retries soon', async () => {
    const { tries, logged, started } = calibrating(enforced, PENDING, PENDING, CALIBRATED);
    const { state, stop } = await started;
    expect(state).toEqual({ kind: 'pending', needed: true });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(tries).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect([tries.length, state.kind]).toEqual([2, 'pending']);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([tries.length, state.kind]).toEqual([3, 'calibrated']);
    expect(logged).toEqual([
      ['warn', 'pending'],
      ['info', 'calibrated'],
    ]);
    stop();
  });

  it('is repeated at intervals and makes the gateway not ready if it fails later', async () => {
    const { tries, started } = calibrating(enforced, CALIBRATED, UNUSABLE);
    const { state, stop } = await started;
    await vi.advanceTimersByTimeAsync(599_999);
    expect(tries).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect([tries.length, state.kind]).toEqual([2, 'unusable']);
    stop();
  });

  it('continues after an unexpected error', async () => {
    const { tries, started } = calibrating(enforced, CALIBRATED, new Error('unexpected'), CALIBRATED);
    const { stop } = await started;
    await vi.advanceTimersByTimeAsync(1_200_000);
    expect(tries).toHaveLength(3);
    stop();
  });

  it('ends when it is stopped during an attempt', async () => {
    const gate = Promise.withResolvers<Calibration>();
    const { tries, started } = calibrating(enforced, CALIBRATED, gate.promise);
    const { stop } = await started;
    await vi.advanceTimersByTimeAsync(600_000);
    stop();
    gate.resolve(CALIBRATED);
    await vi.advanceTimersByTimeAsync(10_000_000);
    expect([tries.length, vi.getTimerCount()]).toEqual([2, 0]);
  });

  it('ends when it is stopped between two attempts', async () => {
    const { tries, started } = calibrating(enforced, CALIBRATED);
    const { stop } = await started;
    stop();
    await vi.advanceTimersByTimeAsync(10_000_000);
    expect([tries.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});
