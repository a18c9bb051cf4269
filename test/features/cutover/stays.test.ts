import { describe, expect, it } from 'vitest';
import type { SharedChange } from '../../../src/engine/model/change-log.ts';
import type { ChangeListener, Sharing } from '../../../src/engine/sharing/sharing.ts';
import { createStays, type StoredStays } from '../../../src/features/cutover/stays.ts';

const DECISION = { number: 3, raised: 2, lowered: 1 };
const NOBODY: StoredStays = { stays: [], told: [] };

/** A log of changes that all gateways read, in order. */
function createLog() {
  const entries: { readonly change: SharedChange; readonly by: number }[] = [];
  const listeners: ChangeListener[] = [];
  const openGateway = (stored = NOBODY) => {
    const own = listeners.length;
    let position = 0;
    const sharing = {
      status: () => ({ available: true, unsyncedSeconds: 0 }),
      keyedHash: () => ({
        id: () => 'a',
        hash: (purpose: string, text: string) => Buffer.from(`${purpose} ${text} as all name it`).toString('base64url'),
        read: () => Promise.resolve(),
      }),
      changes: {
        listen: (listener: ChangeListener) => void listeners.push(listener),
        append: (change: SharedChange) => {
          entries.push({ change, by: own });
          return Promise.resolve();
        },
        position: () => ({ lineage: 'a', number: 1 }),
      },
    } as unknown as Sharing;
    const stays = createStays({ ownKey: Buffer.alloc(32, own), stored, sharing, onChange: () => undefined });
    return {
      stays,
      /** Applies the changes that the log has got since. */
      read() {
        for (const { change, by } of entries.slice(position)) listeners[own]?.apply(change, 1, by === own);
        position = entries.length;
      },
    };
  };
  return openGateway;
}

describe('where a caller stays', () => {
  it('is where the latest write was, on all gateways, if two have got writes for different servers', async () => {
    const openGateway = createLog();
    const [one, other] = [openGateway(), openGateway()];
    const sides = () => [one, other].map(({ stays }) => stays.of('ann', DECISION));
    // Neither has read what the other one wrote.
    await Promise.all([one.stays.add('ann', 'new', DECISION), other.stays.add('ann', 'old', DECISION)]);
    one.read();
    other.read();
    expect(sides()).toEqual(['old', 'old']);
    await one.stays.add('ann', 'new', DECISION);
    one.read();
    other.read();
    expect(sides()).toEqual(['new', 'new']);
  });

  it('is known after a restart, also what only other gateways have seen and the log has forgotten', async () => {
    const before = createLog();
    const [one, other] = [before(), before()];
    await one.stays.add('ann', 'old', DECISION);
    other.read();
    const restarted = createLog()(other.stays.list());
    expect([restarted.stays.of('ann', DECISION), restarted.stays.of('bob', DECISION)]).toEqual(['old', undefined]);
  });

  it('ends with a decision that moves callers to the other server, and with no other one', async () => {
    const { stays } = createLog()();
    await stays.add('ann', 'old', DECISION);
    await stays.add('bob', 'new', DECISION);
    const sides = (decision: typeof DECISION) => ['ann', 'bob'].map((caller) => stays.of(caller, decision));
    expect(sides({ ...DECISION, number: 4 })).toEqual(['old', 'new']);
    expect(sides({ ...DECISION, number: 4, raised: 4 })).toEqual([undefined, 'new']);
    expect(sides({ ...DECISION, number: 4, lowered: 4 })).toEqual(['old', undefined]);
    expect(stays.count({ ...DECISION, number: 4, lowered: 4 })).toBe(1);
  });
});
