import { describe, expect, it } from 'vitest';
import { planOperation, disabledOperations } from '../../src/engine/compile-gateway.ts';
import type { Operation } from '../../src/engine/model/operation.ts';
import { operationWith } from '../builders/exchange.ts';
import { contract } from './contract/sample.ts';
import { REAL, settingsOf } from '../builders/settings-of.ts';

describe('the configuration of an operation', () => {
  const questions = operationWith({ id: 'listQuestions' });
  const planned = (config: Readonly<Record<string, unknown>>, more: Partial<Operation> = {}) =>
    planOperation(settingsOf(config, undefined, { SECRET: 'x' }), { ...questions, ...more });

  it('is the preset by default', () => {
    expect(planned({})).toMatchObject({
      checks: { requests: 'enforce', responses: 'report', undocumented: 'enforce' },
      errors: 'normalized',
      transparent: false,
      serviceCredential: false,
      maxPageSize: 100,
      defaultPageSize: undefined,
      cache: { audience: 'caller', freshSeconds: 30, store: 'accepted' },
    });
  });

  it('is transparent and stores nothing in observe mode', () => {
    expect(planned({ ...REAL, mode: 'observe' })).toMatchObject({
      checks: { requests: 'report', permissions: 'report' },
      errors: 'legacy',
      transparent: true,
      cache: undefined,
    });
  });

  it('has the values of its own keys, which affect no other operation', () => {
    const config = {
      operations: {
        listQuestions: {
          checks: { responses: 'enforce' },
          errors: 'legacy',
          cache: { freshSeconds: 5 },
          pageBounds: { maxPageSize: 7 },
        },
      },
      cache: { defaultPageSize: { listQuestions: 15 } },
    };
    expect(planned(config)).toMatchObject({
      checks: { responses: 'enforce', requests: 'enforce' },
      errors: 'legacy',
      maxPageSize: 7,
      defaultPageSize: 15,
      cache: { freshSeconds: 5 },
    });
    expect(planned(config, { id: 'listIdeas' })).toMatchObject({
      checks: { responses: 'report' },
      errors: 'normalized',
      maxPageSize: 100,
      defaultPageSize: undefined,
      cache: { freshSeconds: 30 },
    });
  });

  it('stores what the contract caches or the configuration switches on, if it is cacheable', () => {
    const byChoice = { cacheability: { byDefault: false, tags: [] } };
    expect(planned({}, byChoice).cache).toBeUndefined();
    expect(planned({ operations: { listQuestions: { cache: { enabled: true } } } }, byChoice).cache).toBeDefined();
    expect(planned({}, { cacheability: undefined }).cache).toBeUndefined();
    expect(planned({ cache: { enabled: false } }).cache).toBeUndefined();
    expect(planned({ operations: { listQuestions: { cache: { enabled: false } } } }).cache).toBeUndefined();
  });

  it("uses a service account only if responses do not depend on the caller's identity", () => {
    const service = {
      mode: 'strict',
      upstream: {
        url: 'http://127.0.0.1:9',
        credentials: { kind: 'service', username: 'portico', passwordEnv: 'SECRET' },
      },
    };
    expect(planned(service).serviceCredential).toBe(true);
    expect(planned(service, { identityIndependent: false }).serviceCredential).toBe(false);
  });
});

describe('switched off', () => {
  it('without an issue tracker, only the copying of attachments is switched off', () => {
    const without = disabledOperations(settingsOf({ issueTracker: { enabled: false } }), contract.operations);
    expect([...without]).toEqual([['copyAttachments', 'issueTracker.enabled']]);
    expect(disabledOperations(settingsOf({ issueTracker: { enabled: true } }), contract.operations).size).toBe(0);
  });

  it('an operation is switched off with the feature that it needs, whatever its name', () => {
    const without = settingsOf({ issueTracker: { enabled: false } });
    const operations = [
      { id: 'copyAttachments', needsFeature: undefined },
      { id: 'another', needsFeature: 'issue-tracker' },
    ] as const;
    expect([...disabledOperations(without, operations).keys()]).toEqual(['another']);
  });
});
