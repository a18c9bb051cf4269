import { describe, expect, it } from 'vitest';
import { UpstreamFailure } from '../../../src/model/upstream-failure.ts';
import type { Reply } from '../../../src/pipeline/reply.ts';
import { findAddresses } from '../../../src/pipeline/undocumented/find-addresses.ts';
import { rewriteAddresses } from '../../../src/pipeline/undocumented/rewrite-addresses.ts';
import { compileLegacyAddresses } from '../../../src/upstream/legacy-addresses.ts';
import { arrivalWith, callerNamed, traceWith } from '../../builders/exchange.ts';
import { drain, openBody, streamOf } from '../../builders/streamed-body.ts';

const services = {
  legacy: compileLegacyAddresses({ origin: 'http://old.example', basePath: '' }, []),
  rewriteUrls: true,
  publicAddress: () => 'https://qa.example',
};

/**
 * Runs the stage on a body of which only the first half has arrived. Returns the upstream's body, to which the test can
 * add the rest, and the body of the reply.
 */
async function replied(stage: typeof rewriteAddresses) {
  const { body: sent, source } = openBody();
  const reply: Reply = { status: 200, headers: [['Content-Type', 'text/plain']], body: sent };
  const exchange = { arrival: arrivalWith(), principal: callerNamed('a'), trace: traceWith(), permission: undefined };
  const { body } = await stage(services)(() => reply)(exchange);
  sent.push(
    Buffer.from(`half of http://old.example/x, and ${'enough text behind it '.repeat(5)}for the rest to go on`),
  );
  return { sent, source, body: streamOf(body), trace: exchange.trace };
}

describe.each([
  ['rewritten', rewriteAddresses],
  ['searched', findAddresses],
])('a body that is %s', (_way, stage) => {
  // A client that receives half of a body, followed by a normal end, mistakes that half for the whole body.
  it('is broken for its reader when it breaks', async () => {
    const { sent, body } = await replied(stage);
    sent.finish(new UpstreamFailure('truncated'));
    const { bytes, failure } = await drain(body);
    expect(bytes.toString()).toMatch(/^half of http/);
    expect(failure).toMatchObject({ kind: 'truncated' });
  });

  it('is broken for the upstream when its reader leaves', async () => {
    const { source, body } = await replied(stage);
    body.destroy();
    expect(source.aborted).toMatchObject({ kind: 'aborted' });
  });

  it('pauses the upstream while its reader is paused', async () => {
    const { sent, source, body } = await replied(stage);
    let length = 0;
    body.read({ part: (part) => (length += part.length) < 0, end: () => undefined });
    for (let count = 0; count < 5; count += 1) sent.push(Buffer.alloc(50_000));
    expect([source.isPaused, length < 60_000]).toEqual([true, true]);
    sent.finish();
    for (let count = 0; count < 20; count += 1) body.resume();
    expect(length).toBeGreaterThan(250_000);
  });
});
