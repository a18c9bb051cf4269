import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { createUpstream } from '../../../src/engine/upstream/create-upstream.ts';
import { type UpstreamOptions, UPSTREAM_DEFAULTS } from '../../../src/engine/upstream/upstream-options.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { reply, startRawServer, type RawRequest } from './support/raw-server.ts';

const breaks = ({ socket }: RawRequest) => socket.destroy();
const silent = () => undefined;
const ok = (request: RawRequest) => reply(request, 200, 'x');

/** Creates an upstream that observes its limits, as in `observe` mode, with the given servers as its addresses. */
function observing(origins: readonly string[], more: Partial<UpstreamOptions> = {}, observes = true) {
  const [origin = '', ...alternates] = origins;
  const options = { ...UPSTREAM_DEFAULTS, alternates, ...more };
  const upstream = createUpstream({ origin, basePath: '/qa' }, options, systemClock, {}, observes);
  cleanUpAfterTest(() => upstream.close(0));
  const { signal } = new AbortController();
  const aside = () => upstream.exchangeAside({ method: 'GET', target: '/a.json', headers: [], signal });
  const exchange = () => upstream.exchange({ method: 'GET', target: '/a.json', headers: [], mode: 'buffered' });
  return { upstream, aside, exchange };
}

describe.each([true, false])('a request aside from those of clients, with observed limits: %s', (observes) => {
  it('has the base path, and is counted nowhere', async () => {
    const server = await startRawServer(ok);
    const { upstream, aside } = observing([server.origin], {}, observes);
    const before = upstream.stats();
    expect(await aside()).toMatchObject({ status: 200, body: Buffer.from('x') });
    expect(server.requests[0]?.head).toMatch(/^GET \/qa\/a\.json HTTP/);
    expect(upstream.stats()).toEqual(before);
  });

  it('fails without a retry and without a consequence for the circuit and the addresses', async () => {
    const server = await startRawServer(breaks);
    const other = await startRawServer(breaks);
    const more = { circuit: { failures: 1, openSeconds: 60 }, ejection: { failures: 1, seconds: 60, maxSeconds: 60 } };
    const { upstream, aside } = observing([server.origin, other.origin], more, observes);
    for (let count = 0; count < 3; count += 1) await expect(aside()).rejects.toMatchObject({ kind: 'reset' });
    expect(server.requests).toHaveLength(3);
    expect(other.requests).toHaveLength(0);
    expect(upstream.health()).toMatchObject({ status: 'healthy' });
    expect(upstream.stats()).toMatchObject({ circuit: 'closed', retries: { succeeded: 0, failed: 0, refused: 0 } });
    expect(upstream.history()).toMatchObject({ lastFailure: undefined, changes: [] });
  });

  it('goes to an address that is in use', async () => {
    const server = await startRawServer(breaks);
    const other = await startRawServer(ok);
    const more = { ejection: { failures: 1, seconds: 60, maxSeconds: 60 } };
    const { aside, exchange, upstream } = observing([server.origin, other.origin], more, observes);
    while (upstream.health().addresses[0]?.state !== 'ejected') await exchange().catch(() => undefined);
    expect(await aside()).toMatchObject({ status: 200 });
  });

  it('has the limits on time', async () => {
    const server = await startRawServer(silent);
    const { aside } = observing([server.origin], { totalTimeoutMs: 50 }, observes);
    await expect(aside()).rejects.toMatchObject({ kind: 'deadline' });
  });

  it('is not sent if no slot is free or the circuit is not closed, and takes no slot', async () => {
    const server = await startRawServer(silent);
    const more = { concurrency: 2, circuit: { failures: 1, openSeconds: 60 } };
    const { upstream, aside, exchange } = observing([server.origin], more, observes);
    const pending = [aside() ?? exchange(), exchange()].map((one) => one.catch(() => undefined));
    expect(upstream.stats().inFlight).toBe(1);
    expect(aside()).toBeUndefined();
    await upstream.close(0);
    await Promise.all(pending);

    const broken = await startRawServer(breaks);
    const other = observing([broken.origin], more, observes);
    await other.exchange().catch(() => undefined);
    expect(other.aside()).toBeUndefined();
  });

  it('ends when it is aborted or the upstream closes', async () => {
    const server = await startRawServer(silent);
    const { upstream } = observing([server.origin], {}, observes);
    const closing = new AbortController();
    const send = () =>
      upstream.exchangeAside({ method: 'GET', target: '/a.json', headers: [], signal: closing.signal });
    const aborted = send();
    closing.abort();
    await expect(aborted).rejects.toMatchObject({ kind: 'aborted' });
    await expect(send()).rejects.toMatchObject({ kind: 'aborted' });
    const { aside, upstream: closed } = observing([server.origin], {}, observes);
    const pending = expect(aside()).rejects.toThrow();
    await closed.close(0);
    await pending;
  });
});
