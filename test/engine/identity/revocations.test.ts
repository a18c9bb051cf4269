import { describe, expect, it } from 'vitest';
import { createRevocations } from '../../../src/engine/identity/revocations.ts';
import type { SharedChange } from '../../../src/engine/model/change-log.ts';
import type { ChangeListener } from '../../../src/engine/sharing/sharing.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { startRedisServer } from '../../builders/redis-server.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { until } from '../../builders/until.ts';
import { FAILURES, fleetMember as member, MAX_UNSYNCED_SECONDS } from './fleet-member.ts';
import { basic, fakeVerifier } from './identity-fixtures.ts';

needsProgram('redis', 'a revoked credential', (path) => {
  it('is verified again by every gateway, and other callers are not', async () => {
    const { url } = await startRedisServer(path);
    const [one, other] = [await member(url), await member(url)];
    for (const gateway of [one, other]) await gateway.ask('alice');
    // Each gateway reads the fleet's shared key before its first revocation.
    for (const gateway of [one, other]) {
      await gateway.ask('bob');
      const before = gateway.log.position()?.number ?? 0;
      gateway.authenticator.forget({ kind: 'verified', name: 'bob', authorization: basic('bob') });
      await until(() => [one, other].every(({ log }) => log.position()?.number === before + 1));
    }
    await other.ask('bob');
    await other.ask('alice');
    one.authenticator.forget({ kind: 'verified', name: 'alice', authorization: basic('alice') });
    await until(() => !other.isFresh('alice'));
    expect(other.isFresh('bob')).toBe(true);
    await other.ask('alice');
    expect(other.asked.at(-1)).toMatchObject({ name: 'alice', known: true });
  });

  // Anyone can send another caller's name with a wrong password. If such a request revoked the name's credentials
  // everywhere, it could force every gateway to verify them again.
  it('is not revoked by a caller who only claims the name', async () => {
    const { url } = await startRedisServer(path);
    const [one, other] = [await member(url), await member(url)];
    for (const name of ['alice', 'bob']) {
      await one.ask(name);
      await other.ask(name);
    }
    one.authenticator.forget({ kind: 'verified', name: 'bob', authorization: basic('bob') });
    await until(() => !other.isFresh('bob'));
    await other.ask('alice');
    one.authenticator.forget({ kind: 'unverified', name: 'alice', authorization: basic('alice', 'guess') });
    one.authenticator.forget({ kind: 'unverified', name: 'alice', authorization: basic('alice') });
    one.authenticator.forget({ kind: 'verified', name: 'alice', authorization: basic('alice', 'never verified') });
    await one.log.append({ kind: 'purge', tags: ['marker'] });
    await until(() => other.log.position()?.number === 2);
    expect(other.isFresh('alice')).toBe(true);
  });

  // A disconnected gateway does not learn of password changes.
  it('is accepted by a gateway without Redis no longer than the bound', async () => {
    const server = await startRedisServer(path);
    const clock = createTestClock();
    const one = await member(server.url, FAILURES, fakeVerifier(), clock);
    await one.ask('alice');
    await until(() => one.log.syncedAt() > 0);
    server.freeze();
    const frozenAt = clock();
    clock.advance(MAX_UNSYNCED_SECONDS);
    expect(one.isFresh('alice')).toBe(true);
    clock.advance(1);
    expect(one.isFresh('alice')).toBe(false);
    // Credentials can be verified without Redis. Each new result is accepted for the same limited time.
    await one.ask('alice');
    expect(one.isFresh('alice')).toBe(true);
    server.thaw();
    await until(() => one.log.syncedAt() > frozenAt);
    expect(one.isFresh('alice')).toBe(true);
  });

  it('does not become valid because its verification began before the revocation', async () => {
    const { url } = await startRedisServer(path);
    const verification = Promise.withResolvers<{ kind: 'valid' }>();
    const slow = fakeVerifier(() => verification.promise);
    const [one, other] = [await member(url), await member(url, FAILURES, slow)];
    await one.ask('alice');
    const asking = other.ask('alice');
    await until(() => slow.asked.length === 1);
    one.authenticator.forget({ kind: 'verified', name: 'alice', authorization: basic('alice') });
    await until(() => other.log.position()?.number === 1);
    verification.resolve({ kind: 'valid' });
    await asking;
    expect(other.isFresh('alice')).toBe(false);
  });
});

describe('the revocations of a fleet', () => {
  /** Opens the revocations of a gateway. The id of the fleet's key is undefined until the gateway has read the key. */
  function open(id?: string, { key = id, canMiss = true } = {}) {
    const appended: SharedChange[] = [];
    let known = id;
    let reads = 0;
    let listener: ChangeListener | undefined;
    const revocations = createRevocations(
      {
        changes: {
          append: (change: SharedChange) => void appended.push(change),
          listen: (one: ChangeListener) => void (listener = one),
          canMiss,
        } as never,
        keyedHash: () => ({
          id: () => known,
          read: () => {
            reads += 1;
            known = key;
          },
          hash: (...texts) => texts.join('/'),
        }),
      },
      (asOf) => asOf > 5,
    );
    const callers = ['alice', 'Bob', 'carol'];
    let expired: string[] = [];
    revocations.applyTo({ expireCallers: (matches) => void (expired = callers.filter(matches)) });
    return {
      revocations,
      appended,
      reads: () => reads,
      replaceKey: (next: string) => (known = next),
      /** Returns the callers whose credentials a change expires. */
      expiredBy(change: SharedChange | 'reset') {
        expired = [];
        if (change === 'reset') listener?.reset({ lineage: 'two', number: 0 });
        else listener?.apply(change, 1, false);
        return expired;
      },
    };
  }
  const forget = (caller: string) => ({ kind: 'forget', caller }) as const;

  it('name a caller by the hash of any spelling of the name, and the key', async () => {
    const { revocations, appended } = open('key-1');
    await revocations.announce('Alice');
    expect(appended).toEqual([forget('key-1:caller/alice')]);
  });

  it('name all callers if no caller is meant, or the key cannot be read', async () => {
    const all = open('key-1');
    await all.revocations.announce(undefined);
    const keyless = open();
    await keyless.revocations.announce('alice');
    expect([all.appended, keyless.appended]).toEqual([[forget('all')], [forget('all')]]);
    expect([all.reads(), keyless.reads()]).toEqual([0, 1]);
  });

  it('read the key before the first announcement', async () => {
    const { revocations, appended } = open(undefined, { key: 'key-1' });
    await revocations.announce('alice');
    expect(appended).toEqual([forget('key-1:caller/alice')]);
  });

  it('use the next key after the fleet has replaced it', async () => {
    const { revocations, appended, replaceKey } = open('key-1');
    await revocations.announce('alice');
    replaceKey('key-2');
    await revocations.announce('alice');
    expect(appended).toEqual([forget('key-1:caller/alice'), forget('key-2:caller/alice')]);
  });

  it('expire the credentials of the caller that they name, and of no other', () => {
    const { expiredBy, reads } = open('key-1');
    expect(expiredBy(forget('key-1:caller/bob'))).toEqual(['Bob']);
    expect(expiredBy({ kind: 'demote', operation: 'listIdeas' })).toEqual([]);
    expect(reads()).toBe(0);
  });

  // Otherwise, a gateway that has missed a change of the key would go on accepting a password that was changed.
  it('expire the credentials of all callers if they are named by a key that this gateway does not have', () => {
    const other = open('key-1');
    expect(other.expiredBy(forget('key-2:caller/bob'))).toEqual(['alice', 'Bob', 'carol']);
    expect(other.reads()).toBe(1);
    const keyless = open();
    expect(keyless.expiredBy(forget('key-1:caller/bob'))).toEqual(['alice', 'Bob', 'carol']);
    const all = open('key-1');
    expect(all.expiredBy(forget('all'))).toEqual(['alice', 'Bob', 'carol']);
    expect(all.reads()).toBe(0);
  });

  it('expire the credentials of all callers after changes may have been lost, and read the key again', () => {
    const { expiredBy, reads } = open('key-1');
    expect(expiredBy('reset')).toEqual(['alice', 'Bob', 'carol']);
    expect(reads()).toBe(1);
  });

  it('bound the trust in earlier verifications only if changes can be missed', () => {
    const { mayTrust } = open('key-1').revocations;
    expect([mayTrust?.(5), mayTrust?.(6)]).toEqual([false, true]);
    expect(open('key-1', { canMiss: false }).revocations.mayTrust).toBeUndefined();
  });
});
