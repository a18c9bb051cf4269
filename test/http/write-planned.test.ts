import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { writePlanned } from '../../src/http/write-planned.ts';
import type { Plan } from '../../src/pipeline/plan.ts';
import type { Reply } from '../../src/pipeline/reply.ts';
import { callAt } from '../builders/call.ts';
import { createNext, JSON_TYPE, kept, type PlannedParts, plannedWith, traceWith } from '../builders/exchange.ts';
import { serve } from './serve.ts';

const BODY = Buffer.from(`{"a":"${'long '.repeat(100)}"}`);
const FORM = gzipSync(BODY);
const page: Reply = { status: 200, headers: JSON_TYPE, body: BODY, etag: '"tag"', keptAs: 'k' };

interface Written {
  readonly planned?: PlannedParts;
  readonly reply?: Reply;
  readonly method?: string;
  readonly ifNoneMatch?: string;
  readonly acceptEncoding?: string;
}

/** What a client gets of a plan's reply, and for which pages a gzip form was asked for. */
async function written({ planned = { cache: kept() }, reply = page, method = 'GET', ...more }: Written) {
  const asked: unknown[] = [];
  const bytes: unknown[] = [];
  const plan: Plan = { ...plannedWith(planned), stages: [], handle: createNext().handle };
  const { ifNoneMatch, acceptEncoding } = more;
  const { url } = await serve((_request, response) => {
    const fields = { ifNoneMatch, acceptEncoding };
    const options = {
      contractStatusHeader: true,
      reportIdOf: () => 'a1',
      gzip: (key: string, body: Buffer) => {
        asked.push([key, body]);
        return body === BODY ? FORM : undefined;
      },
    };
    bytes.push(writePlanned(response, plan, reply, { method, fields, trace: traceWith() }, options));
  });
  return { answer: await callAt(url, '/', { method }), asked, bytes: bytes[0] };
}

describe('the reply of a plan', () => {
  it('is written with the fields that the plan has made, where its answers are kept', async () => {
    const headers = [...JSON_TYPE, ['Cache-Control', 'private, no-cache'], ['X-Other', 'x']] as const;
    const { answer, bytes } = await written({ reply: { ...page, headers } });
    expect(answer.headers).toMatchObject({
      'cache-control': 'private, no-cache',
      'x-other': 'x',
      etag: '"tag"',
      via: '1.1 portico',
      'x-request-id': 'request-1',
    });
    expect([answer.bytes.equals(BODY), bytes]).toEqual([true, BODY.length]);
  });

  it('is not to be kept by anybody where it is not kept here', async () => {
    const headers = [...JSON_TYPE, ['Set-Cookie', 'a=b'], ['Cache-Control', 'public']] as const;
    const { answer } = await written({ planned: {}, reply: { status: 200, headers, body: BODY } });
    expect(answer.headers['cache-control']).toBe('private, no-store');
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  it('is 304 for a client that has it, but not in observe', async () => {
    expect((await written({ ifNoneMatch: '"tag"' })).answer.status).toBe(304);
    expect((await written({ ifNoneMatch: '"tag"', planned: { transparent: true } })).answer.status).toBe(200);
  });
});

describe('the gzip form', () => {
  it('is sent to a client that takes it, under the key of the very page', async () => {
    const { answer, asked, bytes } = await written({ acceptEncoding: 'br, gzip' });
    expect(asked).toEqual([['k', BODY]]);
    expect(gunzipSync(answer.bytes).equals(BODY)).toBe(true);
    expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', etag: '"tag-gzip"' });
    expect(bytes).toBe(FORM.length);
  });

  it.each([
    ['a client that does not take it', {}],
    ['a client that refuses it', { acceptEncoding: 'gzip;q=0' }],
  ])('is not made for %s', async (_who, more) => {
    const { answer, asked } = await written(more);
    expect(asked).toEqual([]);
    expect(answer.bytes.equals(BODY)).toBe(true);
  });

  it('is not asked for an answer that is no kept page', async () => {
    const { keptAs: _key, ...fetched } = page;
    const { answer, asked } = await written({ reply: fetched, acceptEncoding: 'gzip' });
    expect(asked).toEqual([]);
    expect(answer.headers).not.toHaveProperty('content-encoding');
  });

  it('is not sent in the place of another body under the same key', async () => {
    const other = Buffer.from('{"less":1}');
    const { answer } = await written({ reply: { ...page, body: other }, acceptEncoding: 'gzip' });
    expect(answer.bytes.equals(other)).toBe(true);
    expect(answer.headers).not.toHaveProperty('content-encoding');
  });
});
