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
