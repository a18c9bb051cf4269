import basicAuth from 'express-basic-auth';
import type { Request, Response } from 'express';
import { describe, expect, it, vi } from 'vitest';
import { createBasicAuth } from '../../src/identity/basic-auth.ts';
import { basic } from './identity-fixtures.ts';

const refusal = () => new Error('refused');

const hearing = (judge: () => Promise<never>) => createBasicAuth()({ header: basic('mallory'), judge, refusal });

describe('express-basic-auth, unguarded', () => {
  it('admits everybody when an async authorizer meets no authorizeAsync', () => {
    const admitted = vi.fn<() => void>();
    const careless = basicAuth({ authorizer: (async () => false) as unknown as () => boolean });
    careless({ headers: { authorization: basic('mallory') } } as Request, {} as Response, admitted);
    expect(admitted).toHaveBeenCalledOnce();
  });

  it('leaves the password in clear on the request', () => {
    const request = { headers: { authorization: basic('alice', 'secret') } } as Request;
    basicAuth({ authorizer: () => true })(request, {} as Response, () => undefined);
    expect(request).toHaveProperty('auth.password', 'secret');
  });
});

describe('the guarded express-basic-auth', () => {
  it('hands name and password to the judge and resolves with what the judge gives', async () => {
    const outcome = await createBasicAuth()({
      header: basic('alice', 'a:b'),
      judge: async (name, password) => ({ name, password }),
      refusal,
    });
    expect(outcome).toEqual({ name: 'alice', password: 'a:b' });
  });

  it('refuses what an asynchronous judge refuses, with the error of the judge', async () => {
    const wrong = new Error('wrong password');
    // The package's own assertion would carry the same words.
    const failure = await hearing(() => Promise.reject(wrong)).catch((error: unknown) => error);
    expect(failure).toBe(wrong);
  });

  it('refuses when the judge throws what is no error', async () => {
    await expect(hearing(() => Promise.reject(undefined))).rejects.toThrow('not an error');
  });

  it('refuses when the judge throws before its first await', async () => {
    const broken = new Error('broken judge');
    const failure = await hearing(() => {
      throw broken;
    }).catch((error: unknown) => error);
    expect(failure).toBe(broken);
  });

  it.each(['', 'Basic', 'Basic ', 'Basic %%%', 'Bearer abc', `Basic ${Buffer.from('no colon').toString('base64')}`])(
    'refuses %j without asking the judge and without an answer of its own',
    async (header) => {
      const judge = vi.fn<() => Promise<string>>();
      await expect(createBasicAuth()({ header, judge, refusal })).rejects.toThrow('refused');
      expect(judge).not.toHaveBeenCalled();
    },
  );

  it('refuses when the package admits without having asked the judge', async () => {
    const careless = Object.assign(() => (_request: unknown, _response: unknown, next: () => void) => next(), {
      safeCompare: basicAuth.safeCompare,
    });
    const admitted = createBasicAuth(careless)({ header: basic('mallory'), judge: async () => 'outcome', refusal });
    await expect(admitted).rejects.toThrow('refused');
  });

  it('keeps parallel requests apart', async () => {
    const run = createBasicAuth();
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const [first, second] = gates.map(({ promise }, index) => {
      const judge = async (name: string) => {
        await promise;
        if (index === 0) throw new Error(`${name} is refused`);
        return name;
      };
      return run({ header: basic(`caller-${index}`), judge, refusal });
    });
    gates[1]?.resolve();
    await expect(second).resolves.toBe('caller-1');
    gates[0]?.resolve();
    await expect(first).rejects.toThrow('caller-0 is refused');
  });
});
