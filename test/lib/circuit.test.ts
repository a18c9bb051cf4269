import { describe, expect, it } from 'vitest';
import { createCircuit, type CircuitOutcome } from '../../src/lib/circuit.ts';

function circuitAt(failures = 3, openSeconds = 5) {
  const time = { now: 1_700_000_000_000 };
  const changes: unknown[] = [];
  const circuit = createCircuit(
    { failures, openSeconds },
    () => time.now,
    (change) => void changes.push(change),
  );
  const attempt = (outcome: CircuitOutcome) => circuit.begin()(outcome);
  const fail = (times: number) => {
    for (let count = 0; count < times; count += 1) attempt('failure');
  };
  return { time, circuit, attempt, fail, changes };
}

describe('a circuit', () => {
  it('opens after the configured number of consecutive failures and returns how long to wait', () => {
    const { circuit, fail, time } = circuitAt();
    fail(2);
    expect(circuit.waitSeconds()).toBe(0);
    fail(1);
    expect(circuit.state()).toBe('open');
    time.now += 1500;
    expect(circuit.waitSeconds()).toBe(4);
  });

  it('resets the failures after a success, not after a neutral outcome', () => {
    const { circuit, fail, attempt } = circuitAt();
    fail(2);
    attempt('success');
    fail(2);
    expect(circuit.state()).toBe('closed');
    attempt('neutral');
    expect(circuit.state()).toBe('closed');
    fail(1);
    expect(circuit.state()).toBe('open');
  });

  it('can be closed without a trial, and a trial that then fails is one failure', () => {
    const { circuit, fail, time, changes } = circuitAt();
    fail(3);
    time.now += 5000;
    const settle = circuit.begin();
    circuit.close();
    expect([circuit.state(), circuit.waitSeconds()]).toEqual(['closed', 0]);
    settle('failure');
    expect([circuit.state(), changes.length]).toEqual(['closed', 2]);
    fail(1);
    circuit.close();
    fail(2);
    expect([circuit.state(), changes.length]).toEqual(['closed', 2]);
  });

  it('admits a single trial and closes when it succeeds', () => {
    const { circuit, fail, time } = circuitAt();
    fail(3);
    time.now += 5000;
    expect([circuit.state(), circuit.waitSeconds()]).toEqual(['half-open', 0]);
    const settle = circuit.begin();
    expect(circuit.waitSeconds()).toBe(1);
    settle('success');
    expect([circuit.state(), circuit.waitSeconds()]).toEqual(['closed', 0]);
  });

  it('opens again when the trial fails', () => {
    const { circuit, fail, time, attempt } = circuitAt();
    fail(3);
    time.now += 5000;
    attempt('failure');
    expect(circuit.waitSeconds()).toBe(5);
  });

  it('reports that it opened, and after failed trials that it closed and how long it was open', () => {
    const { fail, time, attempt, changes } = circuitAt();
    fail(3);
    time.now += 5000;
    attempt('failure');
    time.now += 5000;
    attempt('neutral');
    expect(changes).toEqual([{ opened: true, openMs: 0 }]);
    attempt('success');
    attempt('success');
    expect(changes).toEqual([
      { opened: true, openMs: 0 },
      { opened: false, openMs: 10_000 },
    ]);
  });

  it('allows another trial when one was aborted', () => {
    const { circuit, fail, time, attempt } = circuitAt();
    fail(3);
    time.now += 5000;
    attempt('neutral');
    expect([circuit.state(), circuit.waitSeconds()]).toEqual(['half-open', 0]);
  });

  it('ignores outcomes of attempts that began before it opened', () => {
    const { circuit, fail, time } = circuitAt();
    const early = circuit.begin();
    fail(3);
    early('success');
    expect(circuit.state()).toBe('open');
    time.now += 5000;
    const late = circuit.begin();
    early('failure');
    late('success');
    expect(circuit.state()).toBe('closed');
  });

  it('stays open no longer because of attempts that began before it opened and failed later', () => {
    const { circuit, fail, time } = circuitAt();
    const early = [circuit.begin(), circuit.begin(), circuit.begin()];
    fail(3);
    time.now += 4000;
    for (const settle of early) settle('failure');
    expect(circuit.waitSeconds()).toBe(1);
  });

  it('accepts an outcome only once', () => {
    const { circuit } = circuitAt(2);
    const settle = circuit.begin();
    settle('failure');
    settle('failure');
    expect(circuit.state()).toBe('closed');
  });
});
