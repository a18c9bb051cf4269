import { describe, expect, it } from 'vitest';
import { UpstreamFailure, type UpstreamFailureKind } from '../../../src/engine/model/upstream-failure.ts';
import { createUpstreamGate } from '../../../src/engine/upstream/upstream-gate.ts';
import { UPSTREAM_DEFAULTS } from '../../../src/engine/upstream/upstream-options.ts';

describe('a gate', () => {
  const owner = { caller: 'alice', isVerified: true, address: '192.0.2.1' };

  /** Creates a gate whose circuit opens after this many failures. `fail` can attribute a failure to a page. */
  function gateWith(failures: number) {
    let now = 1000;
    const gate = createUpstreamGate({ ...UPSTREAM_DEFAULTS, circuit: { failures, openSeconds: 5 } }, () => now);
    const fail = async (kind: UpstreamFailureKind, page?: string) =>
      (await gate.enter()).leave(new UpstreamFailure(kind), page);
    return { gate, fail, wait: (seconds: number) => (now += seconds * 1000), state: () => gate.stats().circuit };
  }

  it('opens its circuit if connections for the same page are refused, because no other page could be fetched', async () => {
    const { fail, state } = gateWith(5);
    for (let count = 0; count < 4; count += 1) await fail('refused', '/page');
    expect(state()).toBe('closed');
    await fail('refused', '/page');
    expect(state()).toBe('open');
  });

  it.each<[UpstreamFailureKind, 'open' | 'closed', recorded: boolean]>([
    ['refused', 'open', true],
    ['reset', 'open', true],
    ['truncated', 'open', true],
    ['deadline', 'open', true],
    ['too_large', 'closed', true],
    ['aborted', 'closed', false],
    ['shed', 'closed', false],
    ['circuit_open', 'closed', false],
  ])('after a failure of kind %s has a circuit that is %s', async (kind, expected, recorded) => {
    const { gate, fail, state } = gateWith(1);
    await fail(kind);
    expect(state()).toBe(expected);
    expect(gate.history().lastFailure?.kind).toBe(recorded ? kind : undefined);
  });

  it('counts the failures of a page again after a success', async () => {
    const { gate, fail, state } = gateWith(4);
    for (let count = 0; count < 5; count += 1) await fail('reset', '/page');
    (await gate.enter()).leave();
    for (let count = 0; count < 3; count += 1) await fail('reset', '/page');
    expect(state()).toBe('closed');
    await fail('reset', '/other');
    expect(state()).toBe('open');
  });

  // A client that reads slowly must not make all others wait longer for the trial's result.
  it('closes its circuit as soon as the response to the trial is streamed', async () => {
    const { gate, fail, wait, state } = gateWith(1);
    await fail('reset');
    wait(5);
    (await gate.enter()).stream(owner);
    expect(state()).toBe('closed');
  });

  it('does not use an upload as the trial, because the client could send it slowly', async () => {
    const { gate, fail, wait, state } = gateWith(1);
    await fail('reset');
    wait(5);
    gate.enterStream(owner);
    (await gate.enter()).leave();
    expect(state()).toBe('closed');
  });
});

describe('the history of a gate', () => {
  it('contains the last failure of the upstream and when the circuit opened and closed', async () => {
    let now = 1000;
    const gate = createUpstreamGate({ ...UPSTREAM_DEFAULTS, circuit: { failures: 1, openSeconds: 5 } }, () => now);
    const exchange = async (failure?: UpstreamFailure) => (await gate.enter()).leave(failure);
    expect(gate.history()).toEqual({ lastFailure: undefined, changes: [] });
    await exchange(new UpstreamFailure('reset'));
    now = 7000;
    // A client that disconnects does not count as an upstream failure.
    await exchange(new UpstreamFailure('aborted'));
    await exchange();
    const failure = { cause: 'connection_terminated' };
    expect(gate.history()).toEqual({
      lastFailure: { ...failure, kind: 'reset', at: 1000 },
      changes: [
        { opened: true, openMs: 0, at: 1000, failure },
        { opened: false, openMs: 6000, at: 7000, failure: undefined },
      ],
    });
  });

  it('is limited to the last 50 changes', async () => {
    let now = 0;
    const gate = createUpstreamGate({ ...UPSTREAM_DEFAULTS, circuit: { failures: 1, openSeconds: 1 } }, () => now);
    for (let turn = 0; turn < 40; turn += 1) {
      (await gate.enter()).leave(new UpstreamFailure('reset'));
      now += 2000;
      (await gate.enter()).leave();
    }
    const { changes } = gate.history();
    expect([changes.length, changes[0]?.at, changes.at(-1)?.at]).toEqual([50, 30_000, 80_000]);
  });
});
