import type { ServerErrorForm } from '../../../src/engine/model/server-errors.ts';
import { serverErrors } from '../../../src/profile/server-errors.ts';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/engine/errors/gateway-error.ts';
import { writeError } from '../../../src/engine/http/write-error.ts';
import type { ErrorStyle } from '../../../src/engine/model/checks.ts';
import { UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import { callAt, type Call } from '../../builders/call.ts';
import { traceWith } from '../../builders/exchange.ts';
import { serve } from './serve.ts';

interface Failing {
  readonly style?: ErrorStyle;
  readonly form?: ServerErrorForm | undefined;
  /** Writes to the response before the error occurs. */
  readonly before?: (response: ServerResponse) => Promise<void>;
  readonly trace?: ReturnType<typeof traceWith>;
  readonly proxyStatusHeader?: boolean;
}

/** Returns the response to a request whose handler throws. */
async function caught(thrown: unknown, more: Failing = {}, call: Call = {}) {
  const trace = more.trace ?? traceWith({ operation: 'listThings' });
  const asked: (string | undefined)[] = [];
  const options = {
    contractStatusHeader: false,
    proxyStatusHeader: more.proxyStatusHeader ?? true,
    reportIdOf: () => 'a1',
    isAccepted: () => false,
    errorsFor: (operationId: string | undefined) => {
      asked.push(operationId);
      return more.style ?? 'normalized';
    },
    documentedForm: () => more.form ?? serverErrors[0],
  };
  const { url } = await serve((request, response) => {
    const before = more.before?.(response) ?? Promise.resolve();
    void before.then(() => writeError(thrown, request, response, trace, options));
  });
  return { reply: await callAt(url, '/', call), trace, asked };
}

const denied = new GatewayError('permission_denied', 'You may not.', {
  details: [{ permission: 'See things' }],
  headers: { 'X-Why': 'because' },
});
const accepting = (value: string): Call => ({ headers: { Accept: value } });

const leave = (response: ServerResponse) => Promise.resolve(void response.destroy());

const begin = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    response.writeHead(200, { 'Content-Length': '9' }).write('abc', () => resolve());
  });

describe('an error from Portico', () => {
  it('is sent in the usual form, with its own headers and the edge headers', async () => {
    const { reply, trace, asked } = await caught(denied);
    expect(reply).toMatchObject({
      status: 403,
      json: {
        error: 'You may not.',
        code: 'permission_denied',
        status: 403,
        requestId: 'request-1',
        details: [{ permission: 'See things' }],
      },
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(reply.bytes.length),
        'cache-control': 'no-store',
        'x-why': 'because',
        'x-request-id': 'request-1',
        via: '1.1 portico',
      },
    });
    expect(trace).toMatchObject({ error: 'permission_denied', bytes: reply.bytes.length });
    expect(trace.cause).toBeUndefined();
    expect(asked).toEqual(['listThings']);
  });

  it.each([
    ['application/problem+json', true],
    ['application/problem+json, application/json;q=0.5', true],
    ['application/json, application/problem+json;q=0.9', false],
    ['application/json', false],
    ['*/*', false],
    ['application/*', false],
    ['text/html', false],
  ])('is a problem for a client that accepts %s: %s', async (accept, isProblem) => {
    const { reply } = await caught(denied, {}, accepting(accept));
    expect(reply.headers['content-type']).toBe(`application/${isProblem ? 'problem+json' : 'json'}; charset=utf-8`);
    if (isProblem)
      expect(reply.json).toMatchObject({
        type: 'urn:portico:error:permission_denied',
        title: 'Permission denied',
        detail: 'You may not.',
        status: 403,
        code: 'permission_denied',
        requestId: 'request-1',
        details: [{ permission: 'See things' }],
      });
  });

  it("consists of the bare text in the upstream's form, whatever the client accepts", async () => {
    const { reply } = await caught(denied, { style: 'legacy' }, accepting('application/problem+json'));
    expect([reply.status, reply.json]).toEqual([403, { error: 'You may not.' }]);
  });

  it("consists of the upstream's message in the form of an operation that documents this form", async () => {
    const { reply } = await caught(denied, { style: 'legacy', form: serverErrors[1] });
    expect(reply.json).toEqual({ errors: { message: 'You may not.<br>Please log in as another user.' } });
    const missing = new GatewayError('upstream_not_found', 'Not found.');
    const other = await caught(missing, { style: 'legacy', form: serverErrors[1] });
    expect(other.reply.json).toEqual({ errors: { message: 'Not found.' } });
    expect((await caught(denied, { form: serverErrors[1] })).reply.json).toMatchObject({ error: 'You may not.' });
  });

  it('has no body for HEAD, but its length', async () => {
    const { reply, trace } = await caught(denied, {}, { method: 'HEAD' });
    expect([reply.status, reply.text, trace.bytes]).toEqual([403, '', 0]);
    expect(Number(reply.headers['content-length'])).toBeGreaterThan(0);
  });

  it('breaks a response that has begun', async () => {
    const { reply, trace } = await caught(denied, { before: begin });
    expect([reply.status, reply.text, reply.complete]).toEqual([200, 'abc', false]);
    expect(trace.error).toBe('permission_denied');
  });

  it('counts no bytes for a client that has disconnected', async () => {
    const trace = traceWith();
    await expect(caught(denied, { before: leave, trace })).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(trace.error).toBe('permission_denied');
    expect(trace.bytes).toBeUndefined();
  });
});

describe('any other error', () => {
  it('becomes an internal error without details, and its cause is logged', async () => {
    const cause = new Error('secret');
    const { reply, trace } = await caught(cause);
    expect(reply).toMatchObject({ status: 500, json: { code: 'internal_error', details: [] } });
    expect(reply.text).not.toContain('secret');
    expect(trace.cause).toBe(cause);
  });

  it('is translated if it is a transport failure', async () => {
    const { reply, trace } = await caught(new UpstreamFailure('shed'));
    expect(reply).toMatchObject({
      status: 503,
      json: { code: 'upstream_overloaded' },
      headers: { 'retry-after': '1' },
    });
    expect(trace.cause).toBeUndefined();
  });
});
