import { beforeEach, expect, it } from 'vitest';
import type { PageStore } from '../../src/engine/cache/page-store.ts';

/** Long enough to last until the end of a test, in milliseconds. */
const LONG = 600_000;
/**
 * Short enough to wait for, in milliseconds. On a busy machine, it may have passed before the next statement, so no test
 * may rely on something that lasts only this long.
 */
const SHORT = 40;

/** Two gateways with the same store. `passes` lets at least `ms` milliseconds pass, until the condition is true. */
export interface PageStoreSetting {
  readonly here: PageStore;
  readonly there: PageStore;
  passes(ms: number, condition: () => Promise<boolean>): Promise<void>;
}

/** The behavior that every store of pages must have. `open` must return a store without pages. */
export function pageStoreContract(open: () => Promise<PageStoreSetting>): void {
  let here: PageStore;
  let there: PageStore;
  let passes: PageStoreSetting['passes'];
  beforeEach(async () => {
    ({ here, there, passes } = await open());
  });

  it('returns the bytes of a page until they expire or are dropped', async () => {
    const bytes = Buffer.from([0, 255, 10, 13]);
    await here.set('a key\nwith lines', bytes, LONG);
    expect(await there.get('a key\nwith lines')).toEqual(bytes);
    expect(await there.get('another key')).toBeUndefined();
    await there.drop('a key\nwith lines');
    expect(await here.get('a key\nwith lines')).toBeUndefined();
    await here.set('short', bytes, SHORT);
    await passes(SHORT, async () => (await there.get('short')) === undefined);
  });

  it('gives a claim to one at a time', async () => {
    const claims = await Promise.all([here.claim('key', LONG), there.claim('key', LONG)]);
    const held = claims.filter((claim) => claim !== undefined);
    expect(held).toHaveLength(1);
    await held[0]?.release(true);
    expect(await there.claim('key', LONG)).toBeDefined();
  });

  // A gateway that was killed cannot release its claim, and a slow one must not release that of another one.
  it('ends a claim that is not renewed, and changes one only for its holder', async () => {
    const dead = await here.claim('key', SHORT);
    let next: Awaited<ReturnType<PageStore['claim']>>;
    await passes(SHORT, async () => (next = await there.claim('key', LONG)) !== undefined);
    await dead?.renew(0);
    await dead?.release(false);
    expect(await here.claim('key', LONG)).toBeUndefined();
    await next?.renew(SHORT);
    await passes(SHORT, async () => (await here.claim('key', LONG)) !== undefined);
  });

  it('gives up listening after the given time', async () => {
    const listener = here.listen('key');
    expect(await listener.outcome(1)).toBeUndefined();
    listener.stop();
  });
}
