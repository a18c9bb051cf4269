import { describe, expect, it } from 'vitest';
import { headerValue } from '../../../../src/engine/model/header-pairs.ts';
import type { Reply } from '../../../../src/engine/pipeline/reply.ts';
import { redactFields } from '../../../../src/engine/pipeline/stages/redact-fields.ts';
import {
  createNext,
  exchangeWith,
  failureOf,
  JSON_TYPE,
  type PlannedParts,
  plannedWith,
  replyWith,
  stageIn,
  textOf,
} from '../../../builders/exchange.ts';
import { bodyOf } from '../../../builders/streamed-body.ts';

const comments: PlannedParts = {
  operation: { privateFields: { names: ['visibility', 'recipients'], requires: { permission: 'See private fields' } } },
};
const TEXT = '{"id":12345678901234567890,"visibility":"recipients","recipients":[{"id":1}],"body":"x"}';
const page = (more: Partial<Reply> = {}): Reply => ({
  status: 200,
  headers: JSON_TYPE,
  body: Buffer.from(TEXT),
  ...more,
});

function redacting(reply: Reply, mayRead = false) {
  const handle = stageIn(
    redactFields(() => () => mayRead),
    plannedWith(comments),
    createNext(reply),
  );
  const exchange = exchangeWith();
  return { trace: exchange.trace, handled: handle(exchange) };
}

describe('redact-fields', () => {
  it('has work only for comments under enforced permissions, and none in observe mode', () => {
    const stage = redactFields(() => () => false);
    expect(stage.plan(plannedWith())).toBeUndefined();
    expect(stage.plan(plannedWith({ ...comments, transparent: true }))).toBeUndefined();
    expect(stage.plan(plannedWith({ ...comments, checks: { permissions: 'report' } }))).toBeUndefined();
    expect(stage.plan(plannedWith(comments))).toBeDefined();
  });

  it('removes the private fields and no other byte, and records it', async () => {
    const { handled, trace } = redacting(page());
    const { body, headers } = await handled;
    expect(textOf(body)).toBe('{"id":12345678901234567890,"body":"x"}');
    expect(headerValue(headers, 'portico-redacted')).toBe('visibility, recipients');
    expect(trace.redacted).toEqual(['visibility', 'recipients']);
  });

  it('leaves them for a caller who may read them', async () => {
    const { handled, trace } = redacting(page(), true);
    expect(textOf((await handled).body)).toBe(TEXT);
    expect(trace.redacted).toBeUndefined();
  });

  it('gives the redacted body a separate entity tag', async () => {
    const { etag } = await redacting(page({ etag: '"whole"' })).handled;
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect((await redacting(page()).handled).etag).toBeUndefined();
  });

  it('leaves a stored page unchanged for other callers', async () => {
    const kept = page();
    await redacting(kept).handled;
    expect(textOf(kept.body)).toBe(TEXT);
  });

  it('forwards a response without such fields unchanged', async () => {
    const reply = replyWith({ id: 1 });
    expect(await redacting(reply).handled).toBe(reply);
  });

  it('withholds what it cannot read', async () => {
    expect(await failureOf(redacting(page({ body: Buffer.from('<html>') })).handled)).toMatchObject({
      code: 'upstream_invalid_response',
    });
  });

  it('leaves errors, empty responses and streams unchanged', async () => {
    const error = page({ status: 400, body: Buffer.from('<html>') });
    const empty = page({ body: Buffer.alloc(0) });
    const stream = page({ body: bodyOf() });
    for (const reply of [error, empty, stream]) expect(await redacting(reply).handled).toBe(reply);
  });
});

const redact = (may: () => boolean) => redactFields(() => may).plan(plannedWith(comments));

describe('a stored page that is redacted', () => {
  it('is served synchronously with the same bytes to all such callers', () => {
    const kept = page({ etag: '"whole"', storedAs: 'k' });
    const handle = redact(() => false)?.(() => kept);
    const replies = [1, 2, 3].map(() => {
      const exchange = exchangeWith();
      const reply = handle?.(exchange);
      if (reply === undefined || reply instanceof Promise) throw new Error('a promise');
      expect(exchange.trace.redacted).toEqual(['visibility', 'recipients']);
      expect(headerValue(reply.headers, 'portico-redacted')).toBe('visibility, recipients');
      return [textOf(reply.body), reply.etag];
    });
    expect(replies[0]?.[0]).toBe('{"id":12345678901234567890,"body":"x"}');
    expect(replies[1]).toEqual(replies[0]);
    expect(replies[2]).toEqual(replies[0]);
    expect(textOf(kept.body)).toBe(TEXT);
  });

  it('is searched once if nothing was found in it, and each time if it is not stored', () => {
    for (const storedAs of ['k', undefined]) {
      const body = Buffer.from('{"xisibility":"recipients"}');
      const handle = redact(() => false)?.(() => page({ body, ...(storedAs === undefined ? {} : { storedAs }) }));
      void handle?.(exchangeWith());
      // A stored page normally never changes. The test changes this page to detect whether the stage searches it again.
      body.write('v', 2);
      const exchange = exchangeWith();
      void handle?.(exchange);
      expect(exchange.trace.redacted).toEqual(storedAs === undefined ? ['visibility'] : undefined);
    }
  });

  it('is complete for a caller who may read it, even between requests of callers who may not', () => {
    const kept = page({ etag: '"whole"', storedAs: 'k' });
    let may = false;
    const handle = redact(() => may)?.(() => kept);
    for (const mayRead of [false, true, false, true]) {
      may = mayRead;
      const exchange = exchangeWith();
      const reply = handle?.(exchange);
      if (reply === undefined || reply instanceof Promise) throw new Error('a promise');
      expect(reply === kept).toBe(mayRead);
      expect(textOf(reply.body).includes('recipients')).toBe(mayRead);
      expect(exchange.trace.redacted !== undefined).toBe(!mayRead);
    }
  });

  it('is distinguished from another page of equal length, in either order', () => {
    const bodies = ['{"id":1,"xisibility":"a"}', '{"visibility":"a","id":1}', '{"xisibility":"a","id":2}'].map((text) =>
      Buffer.from(text),
    );
    let current = Buffer.alloc(0);
    const handle = redact(() => false)?.(() => page({ body: current, storedAs: 'k' }));
    const seen = [...bodies, ...bodies].map((body) => {
      current = body;
      const reply = handle?.(exchangeWith());
      return reply === undefined || reply instanceof Promise ? '' : textOf(reply.body);
    });
    expect(seen.slice(0, 3)).toEqual(['{"id":1,"xisibility":"a"}', '{"id":1}', '{"xisibility":"a","id":2}']);
    expect(seen.slice(3)).toEqual(seen.slice(0, 3));
  });

  it('is refused each time if it cannot be read', () => {
    const body = Buffer.from('<html>');
    const handle = redact(() => false)?.(() => page({ body, storedAs: 'k' }));
    for (let times = 0; times < 2; times += 1) expect(() => handle?.(exchangeWith())).toThrow('is not JSON');
  });
});
