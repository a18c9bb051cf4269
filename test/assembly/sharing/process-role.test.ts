import { describe, expect, it } from 'vitest';
import { joinPrimary, type PrimaryRole, shareWithProcesses } from '../../../src/assembly/sharing/process-role.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { SharedChange } from '../../../src/model/change-log.ts';
import { createPeer, type Peer } from '../../../src/workers/ipc-peer.ts';
import { createPrimaryChangeLog } from '../../../src/workers/ipc-change-log.ts';
import { ipcChannel } from '../../builders/ipc-channel.ts';

/** Creates a primary process without workers, and a function that connects one. All of them run in this process. */
function createProcesses() {
  const workers: { readonly number: number; readonly pid: undefined; readonly peer: Peer }[] = [];
  const handlers: PrimaryRole['handlers'] = { join: () => undefined };
  const changes = createPrimaryChangeLog(() => workers, systemClock);
  shareWithProcesses(
    {
      kind: 'primary',
      workers: undefined as never,
      changes,
      handlers,
      onEnd: () => undefined,
      publicAddress: () => undefined,
    },
    systemClock,
  );
  return {
    startWorker() {
      const {
        ends: [ofPrimary, ofWorker],
      } = ipcChannel();
      const identity = { number: workers.length + 1, pid: undefined };
      const peer = createPeer(ofPrimary, (name) => {
        const handler = handlers[name];
        return handler && ((value) => handler(value, identity));
      });
      workers.push({ ...identity, peer });
      const own: Record<string, (value: never) => unknown> = {};
      const primary = createPeer(ofWorker, (name) => own[name]);
      const role = { kind: 'worker', primary, handlers: own } as const;
      return { ...shareWithProcesses(role, systemClock), join: () => joinPrimary(role) };
    },
  };
}

describe('the processes of one gateway', () => {
  // After a password is changed on the upstream, only one worker initially sees that the old password is refused. The
  // other workers must not keep accepting the old password from memory.
  it('verify the credentials of a caller again after one of them was refused', async () => {
    const { startWorker } = createProcesses();
    const [one, other] = [startWorker(), startWorker()];
    const expired: string[] = [];
    other.revocations.applyTo({
      expireCallers: (concerns) => void expired.push(...['alice', 'bob'].filter((name) => concerns(name))),
    });
    await one.revocations.announce('alice');
    expect(expired).toEqual(['alice']);
    await one.revocations.announce(undefined);
    expect(expired).toEqual(['alice', 'alice', 'bob']);
    expect(other.revocations.mayTrust(-Infinity)).toBe(true);
  });

  // If a replacement worker missed these demotions, it would go back to sharing the operation's pages among callers.
  it('apply the demotions of operations even if they start later', async () => {
    const { startWorker } = createProcesses();
    const one = startWorker();
    await one.changes.append({ kind: 'demote', operation: 'listIdeas' });
    await one.changes.append({ kind: 'purge', tags: ['ideas'] });
    await one.changes.append({ kind: 'demote', operation: 'listQuestions' });
    const later = startWorker();
    const applied: SharedChange[] = [];
    later.listen({ apply: (change) => void applied.push(change), reset: () => undefined });
    await later.join();
    expect(applied).toEqual([
      { kind: 'demote', operation: 'listIdeas' },
      { kind: 'demote', operation: 'listQuestions' },
    ]);
  });
});
