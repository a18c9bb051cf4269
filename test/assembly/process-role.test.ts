import { describe, expect, it } from 'vitest';
import { type PrimaryRole, shareWithProcesses } from '../../src/assembly/process-role.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createPrimaryChangeLog } from '../../src/workers/ipc-change-log.ts';
import { createPeer, type IpcPort, type Peer } from '../../src/workers/ipc-peer.ts';

/** Two connected ends of a channel. */
function channel(): readonly [IpcPort, IpcPort] {
  const listeners: ((message: unknown) => void)[][] = [[], []];
  const end = (own: 0 | 1): IpcPort => ({
    send: (message) => queueMicrotask(() => listeners[1 - own]?.forEach((hear) => hear(structuredClone(message)))),
    onMessage: (listener) => void listeners[own]?.push(listener),
    onClose: () => undefined,
  });
  return [end(0), end(1)];
}

/** Connects two workers to a primary process, all in this process. */
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
    const [ofPrimary, ofWorker] = channel();
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
  // A password that was changed on the legacy server is refused at first at one worker only. The others must not accept
  // the old one for as long as they remember it.
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
