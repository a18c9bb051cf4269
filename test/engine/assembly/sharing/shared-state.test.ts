import { beforeEach, describe, expect, it } from 'vitest';
import { shareDemotions } from '../../../../src/engine/assembly/sharing/shared-state.ts';
import type { ChangeListener, SharedChange } from '../../../../src/engine/model/change-log.ts';
import { until } from '../../../builders/until.ts';

const START = { lineage: 'one', number: 0 };

let listener: ChangeListener;
let appended: SharedChange[];
let demoted: string[];
let stored: Set<string>;
let isAway: boolean;
let isSynced: boolean;
beforeEach(() => {
  [appended, demoted, stored, isAway, isSynced] = [[], [], new Set(), false, true];
});

function open({ withRedis = true } = {}) {
  const redis = {
    key: (group: string) => group,
    async command(_key: string, [name, , operation = '']: readonly (string | Buffer)[]) {
      if (isAway) throw new Error('away');
      if (name === 'SMEMBERS') return [...stored];
      stored.add(String(operation));
      return 1;
    },
  };
  const demotions = shareDemotions({
    changes: { append: async (change: SharedChange) => void appended.push(change) } as never,
    listen: (one) => void (listener = one),
    ...(withRedis && { redis: redis as never, follower: { position: () => START, isSynced: () => isSynced } as never }),
  });
  demotions.applyTo({
    guard: { demote: (operation) => void demoted.push(operation) },
    cache: { retain: () => 0 },
  });
  return demotions;
}

describe('the demotions that gateways share', () => {
  // The log stores only the latest changes, so a new gateway cannot find older demotions in it.
  it('are read from the set when a gateway starts, and nothing is shared before', async () => {
    stored.add('listIdeas');
    const demotions = open();
    expect(demotions.areKnown()).toBe(false);
    await until(() => demotions.areKnown());
    expect(demoted).toEqual(['listIdeas']);
  });

  it('are read again after the server was away', async () => {
    isAway = true;
    const demotions = open();
    listener.reset(START);
    expect(demotions.areKnown()).toBe(false);
    isAway = false;
    await until(() => demotions.areKnown());
  });

  it('are unknown while changes cannot arrive', async () => {
    const demotions = open();
    await until(() => demotions.areKnown());
    isSynced = false;
    expect(demotions.areKnown()).toBe(false);
  });

  it('are announced once, and stored when the log contains them', async () => {
    const demotions = open();
    demotions.announce('listIdeas');
    demotions.announce('listIdeas');
    expect(appended).toEqual([{ kind: 'demote', operation: 'listIdeas' }]);
    listener.apply({ kind: 'demote', operation: 'listIdeas' }, 1, true);
    await until(() => stored.has('listIdeas'));
  });

  it('of other gateways are applied, and not announced again', () => {
    const demotions = open();
    listener.apply({ kind: 'demote', operation: 'listIdeas' }, 1, false);
    demotions.announce('listIdeas');
    expect([demoted, appended]).toEqual([['listIdeas'], []]);
  });

  it('are announced again after the server has lost its data', () => {
    open();
    listener.apply({ kind: 'demote', operation: 'listIdeas' }, 1, false);
    listener.reset({ lineage: 'two', number: 0 });
    expect(appended).toEqual([{ kind: 'demote', operation: 'listIdeas' }]);
  });

  it('are always known to the processes of one gateway, which need no Redis', () => {
    const demotions = open({ withRedis: false });
    listener.apply({ kind: 'demote', operation: 'listIdeas' }, 1, false);
    expect([demotions.areKnown(), demoted]).toEqual([true, ['listIdeas']]);
  });
});
