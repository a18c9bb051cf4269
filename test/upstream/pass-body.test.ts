import { PassThrough, Readable, type Transform } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { passBody } from '../../src/upstream/pass-body.ts';

/** Passes a body of which a part has come, and says how that ended. */
function passing(through: readonly Transform[]) {
  const from = new Readable({ read: () => undefined });
  const to = new PassThrough().resume();
  const { promise: ended, resolve } = Promise.withResolvers<Error | undefined>();
  passBody({ from, through, to, onRead: () => undefined, onPassed: () => undefined, onEnd: resolve });
  from.push('half');
  return { from, to, ended };
}

describe.each([
  ['straight', () => []],
  ['through a transformation', () => [new PassThrough()]],
])('a body that is passed on %s', (_way, through) => {
  // A client that gets half of it with a proper end takes it for all there is.
  it('and goes away without an error breaks the client, and is never ended for it', async () => {
    const { from, to, ended } = passing(through());
    from.destroy();
    expect(await ended).toBeInstanceOf(Error);
    expect([to.writableEnded, to.destroyed]).toEqual([false, true]);
  });

  it('and ends is whole', async () => {
    const { from, to, ended } = passing(through());
    from.push(null);
    expect(await ended).toBeUndefined();
    expect(to.writableFinished).toBe(true);
  });
});
