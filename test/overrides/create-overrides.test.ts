import { describe, expect, it } from 'vitest';
import { createOverrides, MAX_OVERRIDES } from '../../src/overrides/create-overrides.ts';
import type { Override } from '../../src/overrides/override.ts';
import { SHOWN_EVENTS, type OverrideEvent } from '../../src/overrides/override-files.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { watchTimers } from '../builders/watch-timers.ts';
import { NOW, overrideWith } from './override-with.ts';

const WHO = { by: 'alice', from: '10.0.0.1' };
const disable = (operation = 'listIdeas', forMinutes = 60) => ({ operation, kind: 'disable', reason: 'x', forMinutes });
const level = (check: string, value = 'off') => ({ ...disable(), kind: 'level', check, level: value });

function started(active: readonly Override[] = [], operations = ['listIdeas', 'listQuestions']) {
  const clock = createTestClock(NOW);
  const recorded: (readonly [OverrideEvent, readonly Override[]])[] = [];
  const logged: OverrideEvent[] = [];
  const changed: string[] = [];
  const overrides = createOverrides({
    stored: { active, events: [] },
    files: {
      record: (event, all) => void recorded.push([event, all]),
      replace: () => undefined,
      written: () => Promise.resolve(true),
    },
    onEvent: (event) => logged.push(event),
    clock,
  });
  overrides.onChange((operation) => changed.push(operation));
  const targets = operations.map((id) => [id, { isStored: true, transparent: false }] as const);
  overrides.configure({ operations: new Map(targets), maxHours: 24 });
  return { clock, overrides, recorded, logged, changed };
}

describe('overrides', () => {
  it('are recorded, logged and announced in this order of names, with the operator', () => {
    const { overrides, recorded, logged, changed } = started();
    const set = overrides.set(disable(), WHO);
    expect(set).toMatchObject({ operation: 'listIdeas', ...WHO, setAt: NOW, until: NOW + 3_600_000 });
    overrides.set({ ...disable('listQuestions'), by: 'bob' }, WHO);
    expect(overrides.active().map(({ by }) => by)).toEqual(['alice', 'bob']);
    expect(overrides.active('listQuestions')).toHaveLength(1);
    expect(recorded.map(([{ event }, all]) => [event, all.length])).toEqual([
      ['set', 1],
      ['set', 2],
    ]);
    expect(logged).toEqual(recorded.map(([event]) => event));
    expect(changed).toEqual(['listIdeas', 'listQuestions']);
  });

  it('replace an override of the same kind or check, and no other', () => {
    const { overrides, recorded } = started();
    for (const request of [disable(), level('requests'), level('responses')]) overrides.set(request, WHO);
    expect(overrides.active()).toHaveLength(3);
    overrides.set(level('requests', 'report'), WHO);
    expect(overrides.active()).toHaveLength(3);
    expect(overrides.active()).toContainEqual(expect.objectContaining({ check: 'requests', level: 'report' }));
    expect(recorded.at(-1)?.[0].event).toBe('changed');
  });

  it('end one by one or all at once, with the operator who ended them', () => {
    const { overrides, recorded } = started();
    for (const request of [disable(), level('requests'), disable('listQuestions')]) overrides.set(request, WHO);
    expect(overrides.end('listIdeas', 'requests', { by: 'bob', from: undefined })).toMatchObject([
      { check: 'requests' },
    ]);
    expect(recorded.at(-1)?.[0]).toMatchObject({ event: 'ended', override: { by: 'alice' }, endedBy: { by: 'bob' } });
    expect(overrides.end('listIdeas', 'requests', WHO)).toEqual([]);
    expect(overrides.end('listIdeas', undefined, WHO)).toHaveLength(1);
    expect(overrides.active().map(({ operation }) => operation)).toEqual(['listQuestions']);
  });

  it('end exactly at their end, even before that is recorded', () => {
    const { clock, overrides, recorded, changed } = started();
    overrides.set(disable(), WHO);
    clock.advance(3599.999);
    expect(overrides.active()).toHaveLength(1);
    clock.advance(0.001);
    expect(overrides.active()).toEqual([]);
    expect(recorded).toHaveLength(1);
    overrides.expire();
    expect(recorded.at(-1)).toMatchObject([{ event: 'expired', at: NOW + 3_600_000 }, []]);
    expect(changed).toEqual(['listIdeas', 'listIdeas']);
    overrides.expire();
    expect(recorded).toHaveLength(2);
  });

  it('expire by themselves within a second while they are watched, also if the clock jumps', () => {
    const checks = watchTimers(1000);
    const { clock, overrides, logged } = started([overrideWith({ until: NOW - 1, setAt: NOW - 2 })]);
    const stop = overrides.watch();
    // This override expired before the gateway started.
    expect(logged.map(({ event }) => event)).toEqual(['expired']);
    overrides.set(disable(), WHO);
    clock.advance(7200);
    checks.runNow();
    expect(logged.at(-1)).toMatchObject({ event: 'expired', at: NOW + 7_200_000 });
    stop();
  });

  it('cannot be set for longer than configured, or for operations that a reload has removed', () => {
    const { overrides } = started();
    expect(overrides.set(disable('listIdeas', 24 * 60 + 1), WHO)).toMatchObject([{ field: 'forMinutes' }]);
    overrides.configure({ operations: new Map(), maxHours: 24 });
    expect(overrides.set(disable(), WHO)).toMatchObject([{ field: 'operation' }]);
  });

  it('are limited in number, but an existing one can still be changed', () => {
    const operations = Array.from({ length: MAX_OVERRIDES + 1 }, (_one, index) => `operation${index}`);
    const { overrides, recorded } = started([], operations);
    for (const operation of operations.slice(0, -1)) overrides.set(disable(operation), WHO);
    expect(overrides.active()).toHaveLength(MAX_OVERRIDES);
    expect(overrides.set(disable(operations.at(-1)), WHO)).toMatchObject([
      { message: expect.stringContaining('100') as string },
    ]);
    expect(overrides.set(disable('operation0', 5), WHO)).toMatchObject({ operation: 'operation0' });
    expect(recorded).toHaveLength(MAX_OVERRIDES + 1);
    expect(overrides.events()).toHaveLength(SHOWN_EVENTS);
  });
});
