import { describe, expect, it } from 'vitest';
import { ANONYMOUS } from '../../src/model/principal.ts';
import { UpstreamFailure } from '../../src/model/upstream-failure.ts';
import { createLookup } from '../../src/pipeline/lookup.ts';
import type { ExchangedResponse } from '../../src/upstream/create-upstream.ts';
import { callerNamed, JSON_TYPE } from '../builders/exchange.ts';
import { fakeExchanges } from '../builders/fake-exchanges.ts';

const answer = (body: string, status = 200): ExchangedResponse => ({
  status,
  headers: JSON_TYPE,
  body: Buffer.from(body),
  attempts: 1,
});

const found = (given: ExchangedResponse | Promise<ExchangedResponse>) =>
  createLookup(fakeExchanges(() => given).upstream)('/a.json', callerNamed('alice'));

describe('a lookup', () => {
  it("sends the caller's own credential, and none for an anonymous caller", async () => {
    const { upstream, sent } = fakeExchanges(() => answer('{"id":1}'));
    const lookUp = createLookup(upstream);
    expect(await lookUp('/a.json', callerNamed('alice'))).toEqual({ id: 1 });
    await lookUp('/a.json', ANONYMOUS);
    expect(sent).toMatchObject([
      { method: 'GET', target: '/a.json', mode: 'buffered' },
      {
        headers: [
          ['Accept', 'application/json'],
          ['Content-Type', 'application/json'],
        ],
      },
    ]);
    expect(sent[0]?.headers).toContainEqual(['Authorization', 'Basic alice']);
  });

  it('decides nothing if it fails', async () => {
    expect(await found(Promise.reject(new UpstreamFailure('deadline')))).toBeUndefined();
    expect(await found(answer('{"id":1}', 404))).toBeUndefined();
    expect(await found(answer('<html>'))).toBeUndefined();
  });
});
