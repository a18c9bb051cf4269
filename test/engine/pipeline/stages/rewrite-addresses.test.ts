import { describe, expect, it } from 'vitest';
import type { PublicOrigin } from '../../../../src/engine/model/arrival.ts';
import { bodyFactsOf } from '../../../../src/engine/pipeline/body-facts.ts';
import { rewriteAddresses } from '../../../../src/engine/pipeline/stages/rewrite-addresses.ts';
import {
  arrivalWith,
  createNext,
  exchangeWith,
  plannedWith,
  replyWith,
  stageIn,
  textOf,
} from '../../../builders/exchange.ts';
import { bodyOf } from '../../../builders/streamed-body.ts';

const addresses = {
  rewrite: true,
  replace: (body: Buffer, address: string) => {
    const text = body.toString();
    return text.includes('http://legacy') ? Buffer.from(text.replaceAll('http://legacy', address)) : body;
  },
  publicAddress: ({ protocol, host = '' }: PublicOrigin) => `${protocol}://${host}`,
};

const rewriting = (reply = replyWith({ avatar: 'http://legacy/a.png' })) => {
  const arrival = arrivalWith({ host: 'qa.example', protocol: 'https' });
  const exchange = exchangeWith({ arrival });
  const handled = stageIn(rewriteAddresses(addresses), plannedWith(), createNext(reply))(exchange);
  return { handled };
};

describe('rewrite-addresses', () => {
  it('has work only if configured, and none in observe mode', () => {
    expect(rewriteAddresses({ ...addresses, rewrite: false }).plan(plannedWith())).toBeUndefined();
    expect(rewriteAddresses(addresses).plan(plannedWith({ transparent: true }))).toBeUndefined();
  });

  it('writes the address that this client uses', async () => {
    const { handled } = rewriting();
    expect(textOf((await handled).body)).toBe('{"avatar":"https://qa.example/a.png"}');
  });

  it('replaces the entity tag if the response had one', async () => {
    const { etag } = await rewriting(replyWith({ avatar: 'http://legacy/a.png' }, { etag: '"old"' })).handled;
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect((await rewriting().handled).etag).toBeUndefined();
  });

  it('forwards everything else unchanged', async () => {
    const plain = replyWith({ id: 1 });
    expect(await rewriting(plain).handled).toBe(plain);
    const searched = { validity: 'valid', body: bodyFactsOf(plannedWith(), {}), namesUpstream: false } as const;
    const known = replyWith({ avatar: 'http://legacy/a.png' }, { facts: searched });
    expect(await rewriting(known).handled).toBe(known);
    const stream = replyWith({}, { body: bodyOf('http://legacy') });
    expect(await rewriting(stream).handled).toBe(stream);
  });
});
