import { describe, expect, it } from 'vitest';
import type { LevelEntry, OverrideEntry } from '../../../src/features/levels/level-entry.ts';
import { createLevelStore } from '../../../src/features/levels/level-store.ts';
import { createOverrides, MAX_OVERRIDES, type OverrideEvent } from '../../../src/features/levels/overrides.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { watchTimers } from '../../builders/watch-timers.ts';
import { NOW, overrideWith } from './entries.ts';

const WHO = { actor: 'token', by: 'alice', from: '10.0.0.1', way: 'api' } as const;
const disable = (operation = 'listIdeas', forMinutes = 60) => ({ operation, kind: 'disable', reason: 'x', forMinutes });
const level = (check: string, value = 'off') => ({ ...disable(), kind: 'level', check, level: value });

function started(active: readonly OverrideEntry[] = [], operations = ['listIdeas', 'listQuestions']) {
  const clock = createTestClock(NOW);
  const recorded: OverrideEvent[] = [];
  const stored: (readonly LevelEntry[])[] = [];
  const changed: string[] = [];
  const store = createLevelStore({
    stored: { contracts: [], entries: active },
    contract: 'v',
    isShared: false,
    clock,
    write: ({ entries }) => void stored.push(entries),
  });
  const rules = { operations, factsOf: () => ({ isStored: true, transparent: false }), maxHours: 24 };
  let inUse = rules;
  const overrides = createOverrides({
    store,
    rules: () => inUse,
    record(event) {
      recorded.push(event);
      return Promise.resolve(true);
    },
    clock,
  });
  store.onChange((operation) => changed.push(operation));
  const configure = (next: typeof rules) => {
    inUse = next;
  };
  return { clock, overrides, recorded, stored, changed, configure, rules };
}

describe('overrides', () => {
  it('are recorded, stored and announced in this order of names, with the operator', () => {
    const { overrides, recorded, stored, changed } = started();
    const set = overrides.set(disable(), WHO);
    expect(set).toMatchObject({
      operation: 'listIdeas',
      by: 'alice',
      from: '10.0.0.1',
      since: NOW,
      until: NOW + 3_600_000,
    });
    overrides.set({ ...disable('listQuestions'), by: 'bob' }, WHO);
    expect(overrides.active().map(({ by }) => by)).toEqual(['alice', 'bob']);
    expect(overrides.active('listQuestions')).toHaveLength(1);
    expect(recorded.map(({ event, origin }) => [event, origin])).toEqual([
      ['set', WHO],
      ['set', { ...WHO, by: 'bob' }],
    ]);
    expect(stored.map((all) => all.length)).toEqual([1, 2]);
    expect(changed).toEqual(['listIdeas', 'listQuestions']);
  });

  it('replace an override of the same kind or check, and no other', () => {
    const { overrides, recorded } = started();
    for (const request of [disable(), level('requests'), level('responses')]) overrides.set(request, WHO);
    expect(overrides.active()).toHaveLength(3);
    overrides.set(level('requests', 'report'), WHO);
    expect(overrides.active()).toHaveLength(3);
    expect(overrides.active()).toContainEqual(expect.objectContaining({ check: 'requests', level: 'report' }));
    expect(recorded.at(-1)).toMatchObject({
      event: 'changed',
      before: { level: 'off' },
      override: { level: 'report' },
    });
  });

  it('end one by one or all at once, with the operator who ended them', () => {
    const { overrides, recorded } = started();
    for (const request of [disable(), level('requests'), disable('listQuestions')]) overrides.set(request, WHO);
    expect(overrides.end('listIdeas', 'requests', { ...WHO, by: 'bob' })).toMatchObject([{ check: 'requests' }]);
    expect(recorded.at(-1)).toMatchObject({ event: 'ended', override: { by: 'alice' }, origin: { by: 'bob' } });
    expect(overrides.end('listIdeas', 'requests', WHO)).toEqual([]);
    expect(overrides.end('listIdeas', undefined, WHO)).toHaveLength(1);
    expect(overrides.active().map(({ operation }) => operation)).toEqual(['listQuestions']);
  });

  it('end exactly at their end, even before that is recorded', () => {
    const { clock, overrides, recorded, stored, changed } = started();
    overrides.set(disable(), WHO);
    clock.advance(3599.999);
    expect(overrides.active()).toHaveLength(1);
    clock.advance(0.001);
    expect(overrides.active()).toEqual([]);
    expect(recorded).toHaveLength(1);
    overrides.expire();
    expect(recorded.at(-1)).toMatchObject({ event: 'expired', at: NOW + 3_600_000 });
    expect(stored.at(-1)).toEqual([]);
    expect(changed).toEqual(['listIdeas', 'listIdeas']);
    overrides.expire();
    expect(recorded).toHaveLength(2);
  });

  it('expire by themselves within a second while they are watched, also if the clock jumps', () => {
    const checks = watchTimers(1000);
    const { clock, overrides, recorded } = started([overrideWith({ until: NOW - 1, since: NOW - 2 })]);
    const stop = overrides.watch();
    // This override expired before the gateway started.
    expect(recorded.map(({ event }) => event)).toEqual(['expired']);
    overrides.set(disable(), WHO);
    clock.advance(7200);
    checks.runNow();
    expect(recorded.at(-1)).toMatchObject({ event: 'expired', at: NOW + 7_200_000 });
    stop();
  });

  it('cannot be set for longer than configured, or for operations that a reload has removed', () => {
    const { overrides, configure, rules } = started();
    expect(overrides.set(disable('listIdeas', 24 * 60 + 1), WHO)).toMatchObject([{ field: 'forMinutes' }]);
    configure({ ...rules, operations: [] });
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
  });
});
