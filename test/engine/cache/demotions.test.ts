import { beforeEach, describe, expect, it } from 'vitest';
import { shareDemotions } from '../../../src/engine/cache/demotions.ts';
import { cacheKey } from '../../../src/engine/cache/stored-page.ts';
import type { SharedChange } from '../../../src/engine/model/change-log.ts';
import type { ChangeListener, SharedSet } from '../../../src/engine/sharing/sharing.ts';
import { until } from '../../builders/until.ts';

const START = { lineage: 'one', number: 0 };

let listener: ChangeListener;
let appended: SharedChange[];
let demoted: string[];
let stored: Set<string>;
let isAway: boolean;
let isSynced: boolean;
let isConnected: boolean;
/** The keys of the pages in the cache. */
let pages: string[];
beforeEach(() => {
  [appended, demoted, stored, isAway, isSynced] = [[], [], new Set(), false, true];
  [isConnected, pages] = [true, []];
});

function open() {
  const set: SharedSet = {
    async members() {
      if (isAway) throw new Error('away');
      return [...stored];
    },
    async add(operation) {
      if (isAway) throw new Error('away');
      stored.add(operation);
    },
  };
  const changes = {
    append: async (change: SharedChange) => void appended.push(change),
    listen: (one: ChangeListener) => void (listener = one),
  };
  const demotions = shareDemotions(
    { changes: changes as never, set: () => set },
    {
      position: () => (isConnected ? START : undefined),
      isSynced: () => isSynced,
    },
  );
  demotions.applyTo({
    guard: { demote: (operation) => void demoted.push(operation) },
    cache: {
      retain(isRetained) {
        pages = pages.filter(isRetained);
        return 0;
      },
    },
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

  // A reload may have created the guard before the operation was demoted.
  it('apply to a guard that requests use only later', () => {
    const demotions = open();
    demotions.announce('listIdeas');
    demotions.applyTo({
      guard: { demote: (operation) => void demoted.push(operation) },
      cache: { retain: () => 0 },
    });
    expect(demoted).toEqual(['listIdeas']);
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

  // The attack: responses that depend on the caller were stored for many, and are served until they expire.
  it('remove the pages that callers share from the cache, for the demoted operation only', () => {
    const keyOf = (operationId: string, audience: string) =>
      cacheKey({ pageVersion: 'v', operationId, audience, upstreamTarget: '/t' });
    const own = keyOf('listIdeas', 'caller:verified:user:alice');
    const other = keyOf('listQuestions', 'public');
    pages = [keyOf('listIdeas', 'public'), keyOf('listIdeas', 'permissions:key'), own, other];
    open();
    listener.apply({ kind: 'demote', operation: 'listIdeas' }, 1, false);
    expect(pages).toEqual([own, other]);
  });

  it('do not follow from other changes', () => {
    open();
    listener.apply({ kind: 'forget', caller: 'all' }, 1, false);
    expect([demoted, appended]).toEqual([[], []]);
  });

  it('are not read before the gateway is connected', async () => {
    isConnected = false;
    stored.add('listIdeas');
    const demotions = open();
    demotions.areKnown();
    await new Promise((resolve) => setImmediate(resolve));
    expect(demotions.areKnown()).toBe(false);
    isConnected = true;
    await until(() => demotions.areKnown());
  });

  it('are announced again after the server has lost its data', () => {
    open();
    listener.apply({ kind: 'demote', operation: 'listIdeas' }, 1, false);
    listener.reset({ lineage: 'two', number: 0 });
    expect(appended).toEqual([{ kind: 'demote', operation: 'listIdeas' }]);
  });
});
