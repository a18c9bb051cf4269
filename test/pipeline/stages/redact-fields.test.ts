import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { headerValue } from '../../../src/model/header-pairs.ts';
import type { Reply } from '../../../src/pipeline/reply.ts';
import { redactFields } from '../../../src/pipeline/stages/redact-fields.ts';
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
} from '../../builders/exchange.ts';

const comments: PlannedParts = { operation: { carriesPrivateFields: true } };
const TEXT = '{"id":12345678901234567890,"visibility":"recipients","recipients":[{"id":1}],"body":"x"}';
const page = (more: Partial<Reply> = {}): Reply => ({
  status: 200,
  headers: JSON_TYPE,
  body: Buffer.from(TEXT),
  ...more,
});

function redacting(reply: Reply, mayRead = false) {
  const handle = stageIn(
    redactFields(() => mayRead),
    plannedWith(comments),
    createNext(reply),
  );
  const exchange = exchangeWith();
  return { trace: exchange.trace, answer: handle(exchange) };
}

describe('redact-fields', () => {
  it('has work only for comments, under enforced permissions, and none in observe', () => {
    const stage = redactFields(() => false);
    expect(stage.plan(plannedWith())).toBeUndefined();
    expect(stage.plan(plannedWith({ ...comments, transparent: true }))).toBeUndefined();
    expect(stage.plan(plannedWith({ ...comments, checks: { permissions: 'report' } }))).toBeUndefined();
    expect(stage.plan(plannedWith(comments))).toBeDefined();
  });

  it('takes the private fields out, no other byte, and says so', async () => {
    const { answer, trace } = redacting(page());
    const { body, headers } = await answer;
    expect(textOf(body)).toBe('{"id":12345678901234567890,"body":"x"}');
    expect(headerValue(headers, 'portico-redacted')).toBe('visibility, recipients');
    expect(trace.redacted).toEqual(['visibility', 'recipients']);
  });

  it('leaves them to a caller who may read them', async () => {
    const { answer, trace } = redacting(page(), true);
    expect(textOf((await answer).body)).toBe(TEXT);
    expect(trace.redacted).toBeUndefined();
  });

  it('gives what is left an entity tag of its own', async () => {
    const { etag } = await redacting(page({ etag: '"whole"' })).answer;
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect((await redacting(page()).answer).etag).toBeUndefined();
  });

  it('leaves a kept page as it is for others', async () => {
    const kept = page();
    await redacting(kept).answer;
    expect(textOf(kept.body)).toBe(TEXT);
  });

  it('passes an answer without such fields on as it is', async () => {
    const reply = replyWith({ id: 1 });
    expect(await redacting(reply).answer).toBe(reply);
  });

  it('shows nothing of what it cannot read', async () => {
    expect(await failureOf(redacting(page({ body: Buffer.from('<html>') })).answer)).toMatchObject({
      code: 'upstream_invalid_response',
    });
  });

  it('leaves errors, empty answers and streams alone', async () => {
    const error = page({ status: 400, body: Buffer.from('<html>') });
    const empty = page({ body: Buffer.alloc(0) });
    const stream = page({ body: Readable.from([]) });
    for (const reply of [error, empty, stream]) expect(await redacting(reply).answer).toBe(reply);
  });
});

const redact = (may: () => boolean) => redactFields(may).plan(plannedWith(comments));

describe('a kept page that is redacted', () => {
  it('is answered at once, and looked through once for all who are served from it', () => {
    const kept = page({ etag: '"whole"', keptAs: 'k' });
    const handle = redact(() => false)?.(() => kept);
    const replies = [1, 2, 3].map(() => {
      const exchange = exchangeWith();
      const reply = handle?.(exchange);
      if (reply === undefined || reply instanceof Promise) throw new Error('a promise');
      expect(exchange.trace.redacted).toEqual(['visibility', 'recipients']);
      expect(headerValue(reply.headers, 'portico-redacted')).toBe('visibility, recipients');
      return reply;
    });
    expect(textOf(replies[0]?.body)).toBe('{"id":12345678901234567890,"body":"x"}');
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1);
    expect(new Set(replies.map(({ etag }) => etag)).size).toBe(1);
    expect(textOf(kept.body)).toBe(TEXT);
  });

  it('is whole for a caller who may read it, between others who may not', () => {
    const kept = page({ etag: '"whole"' });
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

  it('is told from another one of equal length', () => {
    const bodies = ['{"visibility":"a","id":1}', '{"id":1,"xisibility":"a"}'].map((text) => Buffer.from(text));
    const seen = bodies.map((body) => {
      const reply = redact(() => false)?.(() => page({ body }))(exchangeWith());
      return reply === undefined || reply instanceof Promise ? '' : textOf(reply.body);
    });
    expect(seen).toEqual(['{"id":1}', '{"id":1,"xisibility":"a"}']);
    let current = bodies[0] ?? Buffer.alloc(0);
    const handle = redact(() => false)?.(() => page({ body: current }));
    const both = bodies.map((body) => {
      current = body;
      const reply = handle?.(exchangeWith());
      return reply === undefined || reply instanceof Promise ? '' : textOf(reply.body);
    });
    expect(both).toEqual(seen);
  });

  it('that cannot be read is refused each time', () => {
    const body = Buffer.from('<html>');
    const handle = redact(() => false)?.(() => page({ body }));
    for (let times = 0; times < 2; times += 1) expect(() => handle?.(exchangeWith())).toThrow('not JSON');
  });
});
