import { createSessions } from '../../../src/engine/upstream/sessions.ts';
import { describe, expect, it } from 'vitest';
import { ANONYMOUS } from '../../../src/engine/model/principal.ts';
import { UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import { createLookup } from '../../../src/engine/pipeline/owner-lookup.ts';
import type { ExchangedResponse } from '../../../src/engine/upstream/create-upstream.ts';
import { callerNamed, JSON_TYPE } from '../../builders/exchange.ts';
import { fakeExchanges } from '../../builders/fake-exchanges.ts';

const exchanged = (body: string, status = 200): ExchangedResponse => ({
  status,
  headers: JSON_TYPE,
  body: Buffer.from(body),
  attempts: 1,
});

const found = (given: ExchangedResponse | Promise<ExchangedResponse>) =>
  createLookup(
    fakeExchanges(() => given).upstream,
    createSessions([], () => 1_000),
  )('/a.json', callerNamed('alice'));

describe('a lookup', () => {
  it("sends the caller's own credential, and none for an anonymous caller", async () => {
    const { upstream: fake, sent } = fakeExchanges(() => exchanged('{"id":1}'));
    const lookUp = createLookup(
      fake,
      createSessions([], () => 1_000),
    );
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
    expect(await found(exchanged('{"id":1}', 404))).toBeUndefined();
    expect(await found(exchanged('<html>'))).toBeUndefined();
  });
});
