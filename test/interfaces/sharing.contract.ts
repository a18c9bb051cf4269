import { beforeEach, describe, expect, it } from 'vitest';
import type { Claim, ClaimListener, EventWindow, Sharing, WindowEvent } from '../../src/engine/sharing/sharing.ts';

/** Two users of the port: two gateways or, if there is only one, two users in it. */
export interface SharingSetting {
  readonly here: Sharing;
  readonly there: Sharing;
  /** Lets at least `ms` milliseconds pass, until the condition is true. */
  passes(ms: number, condition: () => Promise<boolean>): Promise<void>;
}

/** Long enough to last until the end of a test, in milliseconds. */
const LONG = 600_000;
/**
 * Short enough to wait for, in milliseconds. On a busy machine, it may have passed before the next statement, so no test
 * may rely on something that lasts only this long.
 */
const SHORT = 40;

const bytes = Buffer.from([0, 255, 10, 13]);

const claimed = (claim: Claim | string): Claim => {
  if (typeof claim === 'string') throw new Error(claim);
  return claim;
};

/**
 * The behavior that every adapter of the port must have. `open` is called for each test, and must return users that no
 * earlier test has used.
 */
export function sharingContract(open: () => Promise<SharingSetting>): void {
  let here: Sharing;
  let there: Sharing;
  let passes: SharingSetting['passes'];
  beforeEach(async () => {
    ({ here, there, passes } = await open());
  });

  describe('a map', () => {
    it('returns to everybody what was stored, until it is dropped', async () => {
      const [one, other] = [here.map('page'), there.map('page')];
      await one.set('key', bytes, LONG);
      expect(await other.get('key')).toEqual(bytes);
      expect(await other.get('other')).toBeUndefined();
      expect(await there.map('count').get('key')).toBeUndefined();
      await one.set('key', Buffer.from('newer'), LONG);
      expect(String(await other.get('key'))).toBe('newer');
      await other.drop('key');
      expect(await one.get('key')).toBeUndefined();
    });

    it('returns nothing that has expired', async () => {
      const map = here.map('page');
      await map.set('key', bytes, SHORT);
      await passes(SHORT, async () => (await map.get('key')) === undefined);
    });
  });

  it('opens for its purpose what another one has sealed', () => {
    const sealed = here.seal.seal('purpose', Buffer.from('text'));
    expect(there.seal.open('purpose', sealed)?.toString()).toBe('text');
  });

  describe('a claim', () => {
    it('is held by one at a time', async () => {
      const [one, other] = [here.claims('upload'), there.claims('upload')];
      const claims = await Promise.all([one.take('key', LONG), other.take('key', LONG), one.take('key', LONG)]);
      expect(claims.filter((claim) => claim === 'taken')).toHaveLength(2);
      expect([await other.look('key'), await other.look('other')]).toEqual(['taken', undefined]);
      expect(typeof (await other.take('other', LONG))).toBe('object');
      await claimed(claims.find((claim) => typeof claim === 'object') ?? 'none').release(true);
      expect(await one.look('key')).toBeUndefined();
      expect(typeof (await one.take('key', LONG))).toBe('object');
    });

    it('on one kind of work does not affect another kind', async () => {
      await here.claims('work').take('key', LONG);
      expect(await there.claims('work').look('key')).toBe('taken');
      expect(await there.claims('page').look('key')).toBeUndefined();
      expect(await there.claims('upload').look('key')).toBeUndefined();
    });

    // A gateway that was killed cannot release its claim.
    it('ends by itself, at the time to which it was renewed', async () => {
      const [one, other] = [here.claims('page'), there.claims('page')];
      await one.take('dead', SHORT);
      const renewed = claimed(await one.take('renewed', LONG));
      expect(await renewed.renew(SHORT)).toBe(true);
      await passes(SHORT, async () => (await other.look('dead')) === undefined);
      await passes(SHORT, async () => (await other.look('renewed')) === undefined);
      expect(typeof (await other.take('dead', LONG))).toBe('object');
    });

    // A holder that was slow must not change the claim of the next one.
    it('cannot be changed by an earlier holder', async () => {
      const claims = here.claims('page');
      const late = claimed(await claims.take('key', SHORT));
      await passes(SHORT, async () => (await claims.look('key')) === undefined);
      await there.claims('page').take('key', LONG);
      expect(await late.renew(0)).toBe(false);
      await late.release(false);
      expect(await claims.look('key')).toBe('taken');
    });

    it('that is settled cannot be claimed for a time', async () => {
      const [one, other] = [here.claims('upload'), there.claims('upload')];
      const claim = claimed(await one.take('key', LONG));
      await one.settle('key', LONG);
      expect([await one.look('key'), await other.take('key', LONG)]).toEqual(['settled', 'settled']);
      await claim.release(true);
      expect(await other.look('key')).toBe('settled');
      await one.settle('short', SHORT);
      await passes(SHORT, async () => (await other.look('short')) === undefined);
    });

    it('can be joined by force, which neither ends the claim of the others nor what is settled', async () => {
      const [one, other] = [here.claims('upload'), there.claims('upload')];
      await one.take('key', LONG);
      await claimed(await other.take('key', LONG, true)).release(false);
      expect(await other.look('key')).toBe('taken');
      await one.settle('key', LONG);
      await claimed(await other.take('key', LONG, true)).release(false);
      expect(await other.look('key')).toBe('settled');
    });

    it.each([true, false])('tells those who listen that it has ended: %s', async (succeeded) => {
      const [one, other] = [here.claims('page'), there.claims('page')];
      let listening: ClaimListener | undefined;
      let heard: boolean | undefined;
      // Those who listen begin to do so in the background.
      await passes(SHORT, async () => {
        const claim = claimed(await one.take('key', LONG));
        listening = other.listen('key');
        const outcome = listening.outcome(SHORT);
        await claim.release(succeeded);
        heard = await outcome;
        listening.stop();
        return heard !== undefined;
      });
      expect(heard).toBe(succeeded);
      const silent = other.listen('key');
      expect(await silent.outcome(1)).toBeUndefined();
      silent.stop();
    });
  });

  describe('a counter', () => {
    it('counts for everybody together, in a window that begins with the first event', async () => {
      const [one, other] = [here.counters('rule', 10), there.counters('rule', 10)];
      const counted = await Promise.all(
        Array.from({ length: 6 }, async (_, at) => (at % 2 ? one : other).add('key', LONG)),
      );
      expect(counted.map(({ count }) => count).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
      for (const { leftMs } of counted) {
        expect(leftMs).toBeGreaterThan(LONG / 2);
        expect(leftMs).toBeLessThanOrEqual(LONG);
      }
      expect(await one.add('other', LONG)).toMatchObject({ count: 1 });
      expect(await there.counters('second', 10).add('key', LONG)).toMatchObject({ count: 1 });
    });

    it('is read without being changed', async () => {
      const counters = here.counters('rule', 10);
      expect(await counters.read('key', LONG)).toEqual({ count: 1, leftMs: LONG });
      await counters.add('key', LONG);
      expect([(await counters.read('key', LONG)).count, (await counters.read('key', LONG)).count]).toEqual([2, 2]);
    });

    it('starts over when the window has ended', async () => {
      const counters = here.counters('rule', 10);
      for (let events = 0; events < 3; events += 1) await counters.add('key', SHORT);
      await passes(SHORT, async () => (await counters.read('key', SHORT)).count === 1);
      expect((await counters.add('key', LONG)).count).toBe(1);
    });
  });

  describe('sliding windows', () => {
    const windowsOf = (caller: string, kind: string): EventWindow[] => [
      { name: 'kind', texts: [kind], limit: 3, unlessTrusted: 'pair' },
      { name: 'pair', texts: [caller, kind], limit: 2 },
      { name: 'caller', texts: [caller], limit: 4, counts: 'pair' },
    ];
    const add = async (by: Sharing, caller: string, kind: string, ms = LONG): Promise<WindowEvent> =>
      by.windows('logins', 100).add(windowsOf(caller, kind), ms);
    const isCounted = async (...event: Parameters<typeof add>) => (await add(...event)).waitMs === 0;

    it('admit no more events than their limits, also at the same time, and count none that is refused', async () => {
      const events = await Promise.all(Array.from({ length: 10 }, (_, at) => add(at % 2 ? here : there, 'a', 'x')));
      expect(events.filter(({ waitMs }) => waitMs === 0)).toHaveLength(2);
      const refused = events.find(({ waitMs }) => waitMs > 0);
      expect(refused?.waitMs).toBeGreaterThan(LONG / 2);
      expect(refused?.waitMs).toBeLessThanOrEqual(LONG);
      expect([await isCounted(there, 'b', 'x'), await isCounted(here, 'c', 'x')]).toEqual([true, false]);
    });

    it('admit events again when earlier ones are too old', async () => {
      for (const by of [here, there]) await add(by, 'a', 'x', SHORT);
      await passes(SHORT, () => isCounted(here, 'a', 'x', SHORT));
    });

    it('can count each of the other windows once', async () => {
      for (const kind of ['1', '2', '3', '4', '1']) expect(await isCounted(here, 'a', kind)).toBe(true);
      expect([await isCounted(there, 'a', '5'), await isCounted(there, 'a', '2')]).toEqual([false, true]);
    });

    it('forget an event that is withdrawn', async () => {
      for (let events = 0; events < 20; events += 1) {
        let event: WindowEvent | undefined;
        // The withdrawal of the previous event is not waited for.
        await passes(0, async () => (event = await add(events % 2 ? here : there, 'a', `kind ${events}`)).waitMs === 0);
        event?.withdraw();
      }
    });

    it('lift a limit for a window that is trusted, and for no other', async () => {
      (await add(here, 'a', 'x')).trust('pair', LONG);
      for (const caller of ['b', 'c', 'd']) await add(there, caller, 'x');
      expect([await isCounted(there, 'e', 'x'), await isCounted(there, 'a', 'x')]).toEqual([false, true]);
    });
  });

  describe('a shared hash', () => {
    it('is the same for everybody, and differs for different strings', async () => {
      const [one, other] = [here.keyedHash('callers'), there.keyedHash('callers')];
      await one.read();
      await other.read();
      expect([one.id() === undefined, one.id()]).toEqual([false, other.id()]);
      expect(one.hash('a', 'b')).toBe(other.hash('a', 'b'));
      const hashes = [one.hash('a', 'b'), one.hash('ab'), one.hash('ab', ''), one.hash('', 'ab'), one.hash('a')];
      expect(new Set(hashes).size).toBe(hashes.length);
    });
  });

  describe('a set', () => {
    it('has the members that anybody has added', async () => {
      await here.set('demoted').add('one');
      await there.set('demoted').add('two');
      await here.set('demoted').add('one');
      expect([...(await there.set('demoted').members())].toSorted()).toEqual(['one', 'two']);
    });
  });

  describe('a list of lines', () => {
    it('has the latest lines of everybody in the order of their times, each of them once', async () => {
      const lines = [here.lines('trail', 3, 2), there.lines('trail', 3, 2)];
      for (const [at, line] of ['a', 'b', 'c', 'd'].entries()) lines[at % 2]?.add(line, at);
      lines[1]?.add('d', 3);
      lines[0]?.add('late to arrive', 1);
      await lines[0]?.read();
      expect(await lines[1]?.read()).toEqual(['c', 'd']);
    });
  });

  describe('the log of changes', () => {
    it('numbers the changes without gaps', async () => {
      await passes(0, async () => here.changes.position() !== undefined);
      const before = here.changes.position();
      for (const tag of ['a', 'b', 'c']) await here.changes.append({ kind: 'purge', tags: [tag] });
      const after = { lineage: before?.lineage, number: (before?.number ?? 0) + 3 };
      await passes(0, async () => here.changes.position()?.number === after.number);
      expect(here.changes.position()).toEqual(after);
      expect([...here.changes.unapplied()]).toEqual([]);
    });

    it('is up to date soon', async () => {
      await passes(0, async () => here.changes.syncedAt() > 0);
    });
  });

  describe('a document', () => {
    it('can be replaced in a turn', async () => {
      const copy = { value: 'first' };
      const document = here.openDocument<string>('text', {
        current: () => copy.value,
        adopt: (next) => void (copy.value = next),
        merge: (_base, mine) => mine,
        empty: () => '',
        format: (value) => value,
        parse: (text) => text,
        turnMs: LONG,
      });
      await document.start();
      await passes(0, async () => (await (await document.takeTurn())?.commit('second')) === true);
    });
  });
}
