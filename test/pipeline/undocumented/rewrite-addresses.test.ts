import { once } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../src/pipeline/reply.ts';
import { findAddresses, rewriteAddresses } from '../../../src/pipeline/undocumented/rewrite-addresses.ts';
import { compileLegacyAddresses } from '../../../src/upstream/addresses.ts';
import { arrivalWith, callerNamed, traceWith } from '../../builders/exchange.ts';

const services = {
  legacy: compileLegacyAddresses({ origin: 'http://old.example', basePath: '' }, []),
  rewriteUrls: true,
  publicAddress: () => 'https://qa.example',
};

/** The reply to a text of which half has arrived, and its body as the upstream sends it. */
async function replied(stage: typeof rewriteAddresses) {
  const sent = new Readable({ read: () => undefined });
  sent.on('error', () => undefined);
  const reply: Reply = { status: 200, headers: [['Content-Type', 'text/plain']], body: sent };
  const exchange = { arrival: arrivalWith(), principal: callerNamed('a'), trace: traceWith(), permission: undefined };
  const { body } = await stage(services)(() => reply)(exchange);
  if (Buffer.isBuffer(body)) throw new Error('no stream');
  sent.push('half of http://old.example/x, and enough text behind it for the rest to go on');
  return { sent, body, trace: exchange.trace };
}

// `once` would reject because of the earlier error.
const closing = (stream: Readable) => new Promise<void>((resolve) => stream.once('close', resolve));

describe.each([
  ['rewritten', rewriteAddresses],
  ['searched', findAddresses],
])('a body that is %s', (_way, stage) => {
  // A client that gets half of it with a proper end mistakes that half for the whole.
  it.each([[new Error('reset')], [undefined]])('is broken for its reader when it breaks: %s', async (error) => {
    const { sent, body } = await replied(stage);
    body.on('error', () => undefined);
    const parts: unknown[] = [];
    let ended = false;
    body.on('data', (part) => parts.push(part));
    body.on('end', () => (ended = true));
    body.resume();
    await once(body, 'data');
    const closed = closing(body);
    sent.destroy(error);
    await closed;
    expect([ended, body.destroyed]).toEqual([false, true]);
  });

  it('is broken for the upstream when its reader leaves', async () => {
    const { sent, body } = await replied(stage);
    const closed = closing(sent);
    body.destroy();
    await closed;
    expect(sent.destroyed).toBe(true);
  });

  it('does not flow until someone reads it', async () => {
    const { body, trace } = await replied(stage);
    await new Promise((resolve) => setImmediate(resolve));
    expect(trace.legacyAddress).toBeUndefined();
    const [part] = (await once(body.resume(), 'data')) as [Buffer];
    expect(part.toString()).toMatch(/^half of http/);
  });
});
