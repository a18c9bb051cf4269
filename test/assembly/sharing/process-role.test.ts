import { describe, expect, it } from 'vitest';
import { type PrimaryRole, shareWithProcesses } from '../../../src/assembly/sharing/process-role.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createPrimaryChangeLog } from '../../../src/workers/ipc-change-log.ts';
import { createPeer, type Peer } from '../../../src/workers/ipc-peer.ts';
import { ipcChannel } from '../../builders/ipc-channel.ts';

/** Connects two workers to a primary process. All of them run in this process. */
function processes() {
  const workers: { readonly number: number; readonly pid: undefined; readonly peer: Peer }[] = [];
  const handlers: PrimaryRole['handlers'] = {};
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
  return [1, 2].map((number) => {
    const {
      ends: [ofPrimary, ofWorker],
    } = ipcChannel();
    const identity = { number, pid: undefined };
    const peer = createPeer(ofPrimary, (name) => {
      const handler = handlers[name];
      return handler && ((value) => handler(value, identity));
    });
    workers.push({ ...identity, peer });
    const own: Record<string, (value: never) => unknown> = {};
    const primary = createPeer(ofWorker, (name) => own[name]);
    return shareWithProcesses({ kind: 'worker', primary, handlers: own }, systemClock);
  });
}

describe('the processes of one gateway', () => {
  // After a password has been changed on the legacy server, at first only one worker sees that the old password is
  // refused. The other workers must not continue to accept it for as long as they remember it.
  it('verify the credentials of a caller again after one of them was refused', async () => {
    const [one, other] = processes();
    const expired: string[] = [];
    other?.revocations.applyTo({
      expireCallers: (concerns) => void expired.push(...['alice', 'bob'].filter((name) => concerns(name))),
    });
    await one?.revocations.announce('alice');
    expect(expired).toEqual(['alice']);
    await one?.revocations.announce(undefined);
    expect(expired).toEqual(['alice', 'alice', 'bob']);
    expect(other?.revocations.mayTrust(-Infinity)).toBe(true);
  });
});
