import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Arrival } from '../../../../src/engine/model/arrival.ts';
import type { BodyFindings } from '../../../../src/engine/pipeline/request-rules.ts';
import { validateBody } from '../../../../src/engine/pipeline/stages/validate-body.ts';
import {
  arrivalOf,
  arrivalWith,
  createNext,
  exchangeWith,
  failureOf,
  type PlannedParts,
  plannedWith,
  stageIn,
  traceWith,
  violationWith,
  textOf,
} from '../../../builders/exchange.ts';
import { until } from '../../../builders/until.ts';

const LIMIT = 1000;
const LIMITS = { bytes: LIMIT, json: { depth: 8, values: 100 } };
const NOTHING: BodyFindings = { violations: [] };
const write: PlannedParts = { operation: { method: 'POST', requestBody: { required: true } } };
const reporting: PlannedParts = { ...write, checks: { requests: 'report' } };

function validating(parts: PlannedParts = write, findings: BodyFindings = NOTHING) {
  const next = createNext();
  const checked: unknown[] = [];
  const check = (body: unknown) => {
    checked.push(body);
    return findings;
  };
  const handle = stageIn(
    validateBody(() => ({ check, identifies: false }), LIMITS),
    plannedWith(parts),
    next,
  );
  const send = (arrival: Arrival, trace = traceWith({ requests: { level: 'enforce', outcome: 'passed' } })) => ({
    handled: handle(exchangeWith({ arrival, trace })),
    trace,
  });
  return { next, checked, send };
}

const json = (text: string, headers: Arrival['headers'] = { 'content-type': 'application/json' }) =>
  arrivalOf(text, { headers, rawHeaders: Object.entries(headers).flatMap(([name, value]) => [name, String(value)]) });

const text = (length: number) => `"${'x'.repeat(length - 2)}"`;

const broken = (chunks: number) =>
  Readable.from(
    (async function* () {
      for (let at = 0; at < chunks; at += 1) yield Buffer.alloc(LIMIT);
      await Promise.reject(new Error('aborted'));
    })(),
  );

describe('validate-body', () => {
  it('has no work for operations without a body only if a transparent gateway does not check requests', () => {
    const plan = (parts: PlannedParts) =>
      validateBody(() => ({ check: () => NOTHING, identifies: false }), LIMITS).plan(plannedWith(parts));
    expect(plan({ transparent: true, checks: { requests: 'off' } })).toBeUndefined();
    expect(plan({ transparent: true })).toBeDefined();
    // Otherwise, the body would be dropped, because the upstream request is built anew.
    expect(plan({ checks: { requests: 'off' } })).toBeDefined();
  });

  it('forwards the bytes of a valid body unchanged', async () => {
    const { send, next, checked } = validating();
    const { handled, trace } = send(json('{"id": 12345678901234567890}'));
    await handled;
    expect(textOf(next.asked[0]?.body)).toBe('{"id": 12345678901234567890}');
    expect(checked).toHaveLength(1);
    expect(trace).toMatchObject({ requests: { outcome: 'passed' }, violations: [] });
  });

  it.each([
    ['an empty body', json(''), 400, 'missing'],
    ['malformed JSON', json('{"a":'), 400, 'format'],
    ['another media type', json('{}', { 'content-type': 'text/plain' }), 415, 'protocol'],
    ['a media type with a matching prefix only', json('{}', { 'content-type': 'application/jsonp' }), 415, 'protocol'],
    ['an encoded body', json('{}', { 'content-encoding': 'gzip' }), 415, 'protocol'],
  ])('refuses %s', async (_what, arrival, status, category) => {
    const { send, next, checked } = validating();
    const { handled, trace } = send(arrival);
    expect(await failureOf(handled)).toMatchObject({ status });
    expect(trace).toMatchObject({ requests: { level: 'enforce', outcome: 'refused' }, violations: [{ category }] });
    expect([next.asked, checked]).toEqual([[], []]);
  });

  it.each([
    ['no media type', {}],
    ['media type parameters', { 'content-type': 'application/json; charset=utf-8' }],
    ['a media type in capitals', { 'content-type': 'Application/JSON' }],
    ['the identity coding', { 'content-encoding': 'Identity' }],
  ])('accepts a body with %s', async (_what, headers) => {
    const { send, next } = validating();
    await send(json('{}', headers)).handled;
    expect(next.asked).toHaveLength(1);
  });

  it('refuses what the check finds, with the code and details of the violation', async () => {
    const violations = [violationWith({ location: 'body', at: '/content', message: 'row 2 is empty' })];
    const plain = validating(write, { violations });
    expect(await failureOf(plain.send(json('{}')).handled)).toMatchObject({
      code: 'invalid_body',
      message: 'row 2 is empty',
      details: [{ in: 'body', name: '/content' }],
    });
    const detailed = validating(write, {
      violations,
      code: { code: 'not_permitted', status: 400, title: 'x' },
      details: [{ row: 2 }],
    });
    expect(await failureOf(detailed.send(json('{}')).handled)).toMatchObject({
      code: 'not_permitted',
      details: [{ row: 2 }],
    });
  });

  it('reports each wrong item to the client, and counts each kind of violation once', async () => {
    const violations = [0, 1, 2].map((at) => violationWith({ location: 'body', at: `/recipients/${at}/id` }));
    const { handled, trace } = validating(write, { violations }).send(json('{}'));
    expect(await failureOf(handled)).toMatchObject({
      details: violations.map(({ at }) => ({ in: 'body', name: at })),
    });
    expect(trace.violations).toEqual(violations.slice(0, 1));
  });

  it('refuses with the documented error text of the operation', async () => {
    const documentedErrors = [{ status: 400, text: 'The provided file does not have a valid user.' }];
    const parts: PlannedParts = { operation: { ...write.operation, documentedErrors } };
    for (const findings of [{ violations: [violationWith()] }, { violations: [violationWith()], details: [] }])
      expect(await failureOf(validating(parts, findings).send(json('{}')).handled)).toMatchObject({
        message: 'The provided file does not have a valid user.',
      });
  });

  it('reports at the `report` level, and forwards the body', async () => {
    const { send, next } = validating(reporting);
    const { handled, trace } = send(json('{"a":'));
    await handled;
    expect(trace).toMatchObject({ requests: { level: 'report', outcome: 'reported' }, violations: [{ at: '' }] });
    expect(textOf(next.asked[0]?.body)).toBe('{"a":');
  });

  it('reads nothing if requests are not checked', async () => {
    const { send, next, checked } = validating({ ...write, checks: { requests: 'off' } });
    const { handled, trace } = send(json('<'), traceWith());
    await handled;
    expect([textOf(next.asked[0]?.body), checked, trace.requests]).toEqual(['<', [], undefined]);
  });

  it('refuses a body over the limit, and accepts one at the limit', async () => {
    const { send, next } = validating();
    await send(json(text(LIMIT))).handled;
    expect(await failureOf(send(json(text(LIMIT + 1))).handled)).toMatchObject({
      code: 'body_too_large',
      status: 413,
      headers: { Connection: 'close' },
    });
    expect(next.asked).toHaveLength(1);
  });

  it('reads the rest of a refused body, so that the client reads the response', async () => {
    const { send } = validating();
    let read = 0;
    const body = Readable.from(
      (function* () {
        for (; read < 20; read += 1) yield Buffer.alloc(LIMIT);
      })(),
    );
    await failureOf(send(arrivalWith({ method: 'POST', body })).handled);
    await until(() => read === 20);
  });

  it('reports that the client disconnected if its body breaks off', async () => {
    const { send } = validating();
    expect(await failureOf(send(arrivalWith({ body: broken(0) })).handled)).toMatchObject({ code: 'client_closed' });
    expect(await failureOf(send(arrivalWith({ body: broken(5) })).handled)).toMatchObject({ code: 'body_too_large' });
  });
});

const large = () => json('x'.repeat(LIMIT * 3));

describe('validate-body in observe mode', () => {
  const observe: PlannedParts = { ...reporting, transparent: true };

  it('streams a large body unread', async () => {
    const { send, next, checked } = validating(observe);
    const { handled, trace } = send(large());
    await handled;
    const body = next.asked[0]?.body as Readable;
    expect(String(Buffer.concat(await body.toArray()))).toBe('x'.repeat(LIMIT * 3));
    expect(checked).toEqual([]);
    expect(trace.requests).toEqual({ level: 'report', outcome: 'skipped', reason: 'size' });
  });

  // undici destroys the body of a failed request. The client's connection must remain open, because the response is
  // sent over it.
  it("leaves the client's request open if the forwarded body is destroyed", async () => {
    const { send, next } = validating(observe);
    const arrival = large();
    await send(arrival).handled;
    const forwarded = next.asked[0]?.body as Readable;
    forwarded.destroy();
    await until(() => forwarded.closed);
    expect(arrival.body.destroyed).toBe(false);
  });

  it('keeps the report on the parameters of such a request', async () => {
    const { handled, trace } = validating(observe).send(
      large(),
      traceWith({ requests: { level: 'report', outcome: 'reported' } }),
    );
    await handled;
    expect(trace.requests?.outcome).toBe('reported');
  });
});

/*
 * The attack: a body contains two members with the same name. The check reads one of them, but the upstream receives
 * the unchanged bytes and may read the other. That member might name other users to erase, or set a new visibility.
 */
describe('a body with a duplicate member', () => {
  it.each([
    '{"content":"a","content":"b"}',
    '{"content":"a","\\u0063ontent":"b"}',
    '{"\\u0063ontent":"a","content":"a"}',
    '{"visibility":"x","visibilit\\u0079":"y"}',
    '{"a":{"content":1,"content":1}}',
    '[{"id":1,"id":2}]',
  ])('is refused unread if requests are enforced, and reported otherwise: %s', async (written) => {
    const strict = validating();
    expect(await failureOf(strict.send(json(written)).handled)).toMatchObject({ code: 'invalid_body', status: 400 });
    expect([strict.checked, strict.next.asked]).toEqual([[], []]);
    for (const parts of [reporting, { ...reporting, transparent: true }]) {
      const { send, next, checked } = validating(parts);
      const { handled, trace } = send(json(written));
      await handled;
      expect(trace.violations).toMatchObject([{ category: 'format', keyword: 'repeated-member' }]);
      expect([checked, textOf(next.asked[0]?.body)]).toEqual([[], written]);
    }
  });

  it.each(['{"a":{"b":1},"b":2}', '[{"a":1},{"a":1}]', '{"a":"\\"a\\":1,\\"a\\":2"}', '{"__proto__":1,"a":1}', '1'])(
    'does not include one whose name occurs in two objects or in a text: %s',
    async (written) => {
      const { send, checked } = validating();
      await send(json(written)).handled;
      expect(checked).toEqual([JSON.parse(written)]);
    },
  );
});

/*
 * The attack: a small body that takes a long time to parse, or that overflows the stack of a check that traverses it.
 */
describe('a body beyond the limits of JSON', () => {
  it.each([
    [
      '['.repeat(9),
      'json-depth',
      'The request body is nested deeper than 8 levels, which is the limit of listen.maxJsonDepth.',
    ],
    [
      `[${'1,'.repeat(100)}1]`,
      'json-values',
      'The request body has more than 100 values, which is the limit of listen.maxJsonValues. Every 64 bytes of a number or white space count as a value.',
    ],
  ])('is refused unread, naming the limit, if requests are enforced', async (written, keyword, message) => {
    const { send, checked, next } = validating();
    const { handled, trace } = send(json(written));
    expect(await failureOf(handled)).toMatchObject({ status: 400, details: [{ message }] });
    expect(trace.violations).toMatchObject([{ category: 'bounds', keyword }]);
    expect([checked, next.asked]).toEqual([[], []]);
    const observing = validating({ ...reporting, transparent: true });
    await observing.send(json(written)).handled;
    expect([observing.checked, textOf(observing.next.asked[0]?.body)]).toEqual([[], written]);
  });

  it('is forwarded in observe mode if the check throws, which the verdict records', async () => {
    const mistake = new RangeError('Maximum call stack size exceeded');
    const breaking = () => {
      throw mistake;
    };
    const next = createNext();
    const parts: PlannedParts = { ...reporting, transparent: true };
    const trace = traceWith();
    const exchange = exchangeWith({ arrival: json('{"a":1}'), trace });
    await stageIn(
      validateBody(() => ({ check: breaking, identifies: false }), LIMITS),
      plannedWith(parts),
      next,
    )(exchange);
    expect(textOf(next.asked[0]?.body)).toBe('{"a":1}');
    expect(trace).toMatchObject({ requests: { outcome: 'failed' }, cause: mistake });
    const strict = stageIn(
      validateBody(() => ({ check: breaking, identifies: false }), LIMITS),
      plannedWith(write),
      createNext(),
    );
    expect(await failureOf(strict(exchangeWith({ arrival: json('{}') })))).toBe(mistake);
  });
});
