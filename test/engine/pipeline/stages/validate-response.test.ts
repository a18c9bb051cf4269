import { describe, expect, it } from 'vitest';
import type { ResponseFindings } from '../../../../src/engine/contract/compile/check-response.ts';
import type { Violation } from '../../../../src/engine/model/violation.ts';
import { bodyFactsOf } from '../../../../src/engine/pipeline/body-facts.ts';
import { createKnownBodies } from '../../../../src/engine/pipeline/known-bodies.ts';
import type { Reply } from '../../../../src/engine/pipeline/reply.ts';
import { validateResponse } from '../../../../src/engine/pipeline/stages/validate-response.ts';
import type { Handler } from '../../../../src/engine/pipeline/stage.ts';
import {
  arrivalWith,
  createNext,
  type ExchangeParts,
  exchangeWith,
  failureOf,
  JSON_TYPE,
  pageOf,
  type PlannedParts,
  plannedWith,
  stageIn,
  violationWith,
} from '../../../builders/exchange.ts';
import { bodyOf } from '../../../builders/streamed-body.ts';

const LIMITS = { depth: 8, values: 100 };
const VALID: ResponseFindings = { verdict: 'valid', violations: [], reported: [] };
const drift = (at: string): Violation =>
  violationWith({ check: 'responses', direction: 'response', location: 'body', at, message: `${at} is missing` });
const BROKEN: ResponseFindings = { verdict: 'violations', violations: [drift('/a'), drift('/b')], reported: [] };
/** A page with one node, from which the gateway can learn the node's author. */
const NODES = { ...(pageOf([]) as object), list: [{ id: 1, activeRevisionId: 2, author: { username: 'alice' } }] };
const WRAPPED: ResponseFindings = { verdict: 'skipped', reason: 'wrap', violations: [], reported: [] };
const enforced: PlannedParts = { checks: { responses: 'enforce' } };

function validatingServices(check: () => ResponseFindings) {
  return {
    contract: { checkResponse: check },
    messages: {},
    decode: (_headers: unknown, body: Buffer) => Promise.resolve(body.subarray(1)),
    namesUpstream: () => false,
    knownBodies: createKnownBodies(),
    jsonLimits: LIMITS,
    isAccepted: () => false,
    ownership: { learn: () => undefined },
  };
}

const replyOf = (body: unknown, status = 200): Reply => ({
  status,
  headers: JSON_TYPE,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

function validating(
  reply: Reply,
  judgement: ResponseFindings = VALID,
  parts: PlannedParts = {},
  accepted: readonly string[] = [],
) {
  const judged: unknown[] = [];
  const learned: unknown[] = [];
  const services = {
    contract: {
      checkResponse: (_operation: unknown, _values: unknown, response: unknown) => {
        judged.push(response);
        return judgement;
      },
    },
    messages: {},
    decode: (_headers: unknown, body: Buffer) =>
      Promise.resolve(body[0] === 42 ? body.subarray(1) : body[0] === 33 ? ('damaged' as const) : undefined),
    namesUpstream: (body: Buffer) => body.includes('http://legacy'),
    knownBodies: createKnownBodies(),
    jsonLimits: LIMITS,
    isAccepted: (_operation: unknown, { at }: Violation) => accepted.includes(at),
    ownership: { learn: (nodeId: string, authorName: string) => void learned.push([nodeId, authorName]) },
  };
  const handle = stageIn(validateResponse(services), plannedWith(parts), createNext(reply));
  const run = (more: ExchangeParts = {}) => {
    const exchange = exchangeWith(more);
    return { handled: handle(exchange), trace: exchange.trace };
  };
  return { judged, learned, run };
}

/** Returns the violations and incidents recorded for an error response, each in the form `check keyword`. */
async function toldOf(status: number, judgement: ResponseFindings, parts: PlannedParts = {}): Promise<string[]> {
  const { handled, trace } = validating(replyOf({ error: 'x' }, status), judgement, parts).run();
  await handled;
  return [...trace.violations, ...(trace.incidents ?? [])].map(({ check, keyword }) => `${check} ${keyword}`);
}

describe('validate-response', () => {
  it('records that a response contains an absolute address of the legacy host', async () => {
    const named = validating(replyOf({ avatar: 'http://legacy/a.png' })).run();
    await named.handled;
    expect(named.trace.legacyAddress).toBe(true);
    const silent = validating(replyOf({ avatar: '/a.png' })).run();
    await silent.handled;
    expect(silent.trace.legacyAddress).toBeUndefined();
  });

  it('checks status, media type and original body, and forwards the same bytes', async () => {
    const reply = replyOf(pageOf([1]));
    const { judged, run } = validating(reply);
    const { handled, trace } = run();
    const { body, facts, pageCount } = await handled;
    expect(judged).toEqual([
      {
        status: 200,
        mediaType: 'application/json;charset=UTF-8',
        isEmpty: false,
        json: pageOf([1]),
        bytes: reply.body,
      },
    ]);
    expect(body).toBe(reply.body);
    expect(facts).toMatchObject({ validity: 'valid', body: bodyFactsOf(plannedWith(), pageOf([1])) });
    expect(pageCount).toBe(3);
    expect(trace.responses).toEqual({ level: 'report', outcome: 'passed', verdict: 'valid' });
  });

  it('forwards the response and reports its violations at the `report` level', async () => {
    const { run, learned } = validating(replyOf({}), BROKEN);
    const { handled, trace } = run();
    expect((await handled).facts?.validity).toBe('violations');
    expect(trace.responses).toEqual({ level: 'report', outcome: 'reported', verdict: 'violations' });
    expect(trace.violations).toEqual(BROKEN.violations);
    expect(learned).toEqual([]);
  });

  it.each([true, false])(
    'checks a response that is searched in several turns like any other, if its search finds %s',
    async (namesUpstream) => {
      const services = {
        ...validatingServices(() => BROKEN),
        namesUpstream: (): boolean | Promise<boolean> => Promise.resolve(namesUpstream),
      };
      const reported = exchangeWith();
      const handle = stageIn(
        validateResponse(services),
        plannedWith(),
        createNext(replyOf({ list: [], pageCount: 3 })),
      );
      const reply = await handle(reported);
      expect(reply).toMatchObject({ facts: { validity: 'violations', namesUpstream }, pageCount: 3 });
      expect(reported.trace).toMatchObject({ violations: BROKEN.violations, responses: { outcome: 'reported' } });
      expect(reported.trace.legacyAddress === true).toBe(namesUpstream);
      const refusing = stageIn(validateResponse(services), plannedWith(enforced), createNext(replyOf({})));
      await expect(refusing(exchangeWith())).rejects.toMatchObject({ code: 'upstream_invalid_response' });
    },
  );

  it('does not parse a response that is searched in several turns if its scan proves that it is valid', async () => {
    const services = {
      ...validatingServices(() => BROKEN),
      namesUpstream: (): boolean | Promise<boolean> => Promise.resolve(true),
      scan: () => ({ json: NODES, findings: VALID, hasAddress: true }),
    };
    const exchange = exchangeWith();
    const handle = stageIn(validateResponse(services), plannedWith(enforced), createNext(replyOf('?')));
    expect((await handle(exchange)).facts).toMatchObject({ validity: 'valid', namesUpstream: true });
    expect(exchange.trace.legacyAddress).toBe(true);
  });

  it('uses a scan of the bytes instead of parsing them if it proves that the response is valid', async () => {
    const reported = [drift('/list/0/votes')];
    const found = { json: NODES, findings: { ...VALID, reported }, hasAddress: false };
    const learned: unknown[] = [];
    const services = {
      ...validatingServices(() => BROKEN),
      ownership: { learn: (nodeId: string, author: string) => void learned.push([nodeId, author]) },
      scan: (): typeof found | 'closer' | undefined => found,
    };
    // The body is not JSON. That does not matter here, because only the scan reads it.
    const handle = stageIn(validateResponse(services), plannedWith(enforced), createNext(replyOf('?')));
    const exchange = exchangeWith();
    const body = bodyFactsOf(plannedWith(), NODES);
    expect((await handle(exchange)).facts).toEqual({ validity: 'valid', body, namesUpstream: false });
    expect(exchange.trace).toMatchObject({ scan: 'valid', violations: reported, responses: { verdict: 'valid' } });
    expect(learned).toEqual([['1', 'alice']]);
  });

  it.each([
    ['searches a scanned response for legacy addresses if it has an address', true],
    ['does not search a scanned response that has no address', false],
  ])('%s', async (_name, hasAddress) => {
    const services = {
      ...validatingServices(() => BROKEN),
      namesUpstream: () => true,
      scan: () => ({ json: NODES, findings: VALID, hasAddress }),
    };
    const handle = stageIn(validateResponse(services), plannedWith(enforced), createNext(replyOf('?')));
    const exchange = exchangeWith();
    await handle(exchange);
    expect(exchange.trace.legacyAddress === true).toBe(hasAddress);
  });

  it.each(['closer', undefined] as const)('parses a response if its scan returns %s', async (result) => {
    const services = { ...validatingServices(() => BROKEN), scan: () => result };
    const handle = stageIn(validateResponse(services), plannedWith(), createNext(replyOf({})));
    const exchange = exchangeWith();
    expect((await handle(exchange)).facts?.validity).toBe('violations');
    expect(exchange.trace).toMatchObject({ scan: result, violations: BROKEN.violations });
  });

  it('does not forward a success response that breaks the contract at the `enforce` level', async () => {
    const trace = exchangeWith().trace;
    trace.violations.push(violationWith());
    const run = validating(replyOf({}), BROKEN, enforced).run({ trace });
    expect(await failureOf(run.handled)).toMatchObject({
      code: 'upstream_invalid_response',
      status: 502,
      details: [{ in: 'body', name: '/a' }, { name: '/b' }],
    });
    expect(trace.responses).toMatchObject({ level: 'enforce', outcome: 'refused' });
  });

  it('names ten of many violations', async () => {
    const many: ResponseFindings = {
      verdict: 'violations',
      violations: Array.from({ length: 30 }, (_, at) => drift(`/${at}`)),
      reported: [],
    };
    const error = await failureOf(validating(replyOf({}), many, enforced).run().handled);
    expect((error as { details: unknown[] }).details).toHaveLength(10);
  });

  it.each([300, 404])(
    'forwards a response that is not a success at the `enforce` level, whatever its content: %i',
    async (status) => {
      const { handled, trace } = validating(replyOf({}, status), BROKEN, enforced).run();
      expect((await handled).status).toBe(status);
      expect(trace.responses).toMatchObject({ level: 'enforce', outcome: 'reported', verdict: 'violations' });
    },
  );

  it('forwards a response only if all its violations are accepted', async () => {
    const all = validating(replyOf({}), BROKEN, enforced, ['/a', '/b']).run();
    expect((await all.handled).facts?.validity).toBe('accepted');
    expect(all.trace.responses).toMatchObject({ outcome: 'passed', verdict: 'violations' });
    const some = validating(replyOf({}), BROKEN, enforced, ['/a']).run();
    expect(await failureOf(some.handled)).toMatchObject({ code: 'upstream_invalid_response' });
  });

  it('records why a response could not be checked', async () => {
    const { handled, trace } = validating(replyOf({}), WRAPPED, enforced).run();
    expect((await handled).facts?.validity).toBe('skipped');
    expect(trace.responses).toEqual({ level: 'enforce', outcome: 'skipped', verdict: 'skipped', reason: 'wrap' });
  });

  it('checks nothing if responses are off, but still reads the page count', async () => {
    const { judged, learned, run } = validating(replyOf(pageOf([1])), BROKEN, { checks: { responses: 'off' } });
    const { handled, trace } = run();
    expect(await handled).toMatchObject({ facts: { validity: 'off', body: { isJson: true } }, pageCount: 3 });
    expect([judged, learned]).toEqual([[], []]);
    expect(trace.responses).toMatchObject({ level: 'off', outcome: 'skipped', reason: 'off' });
  });

  it('forwards a response with only undocumented fields as violations at the `enforce` level, and learns from it', async () => {
    const reported = [{ ...drift('/mood'), keyword: 'undocumented-field' }];
    const { learned, run } = validating(replyOf(NODES), { ...VALID, reported }, enforced);
    for (let times = 0; times < 4; times += 1) {
      const { handled, trace } = run();
      expect((await handled).facts?.validity).toBe('valid');
      expect(trace.responses).toEqual({ level: 'enforce', outcome: 'passed', verdict: 'valid' });
      // When identical bytes arrive, they are not checked again, but their violations are still reported.
      expect(trace.violations).toEqual(reported);
    }
    expect(learned).toHaveLength(4);
  });

  it('names contract violations in a refusal, but not advisories', async () => {
    const reported = [{ ...drift('/mood'), keyword: 'undocumented-field' }];
    const { handled, trace } = validating(replyOf({}), { ...BROKEN, reported }, enforced).run();
    expect(await failureOf(handled)).toMatchObject({ details: [{ name: '/a' }, { name: '/b' }] });
    expect(trace.violations).toHaveLength(3);
  });

  it('reports a status by which the upstream failed, unless the response itself has violations', async () => {
    const SERVER_ERROR = 'upstream server-error';
    const reported = [{ ...drift('/mood'), keyword: 'undocumented-field' }];
    expect(await toldOf(500, VALID)).toEqual([SERVER_ERROR]);
    expect(await toldOf(503, WRAPPED)).toEqual([SERVER_ERROR]);
    expect(await toldOf(500, VALID, { checks: { responses: 'off' } })).toEqual([SERVER_ERROR]);
    expect(await toldOf(500, { ...VALID, reported })).toEqual(['responses undocumented-field', SERVER_ERROR]);
    expect(await toldOf(500, BROKEN)).toHaveLength(2);
    expect(await toldOf(499, VALID)).toEqual([]);
  });

  // If only the request's violation were reported, a client could hide failures of the upstream by violating a rule
  // in every request.
  it('reports a status by which the upstream failed even if the request breaks the contract', async () => {
    const trace = exchangeWith().trace;
    trace.violations.push(violationWith());
    await validating(replyOf({ error: 'x' }, 500)).run({ trace }).handled;
    expect(trace.violations.map(({ keyword }) => keyword)).toEqual(['type']);
    expect(trace.incidents?.map(({ keyword }) => keyword)).toEqual(['server-error']);
  });

  it('learns from valid responses', async () => {
    const { learned, run } = validating(replyOf(NODES));
    await run().handled;
    expect(learned).toEqual([['1', 'alice']]);
  });

  it('treats malformed JSON as not JSON', async () => {
    const { judged, run } = validating(replyOf('{"a":'), BROKEN);
    await run().handled;
    expect(judged).toMatchObject([{ json: undefined }]);
  });

  it.each([
    [{ list: [], pageCount: 3, totalCount: 0 }, undefined],
    [{ list: [], pageCount: '3' }, undefined],
    [{ list: [], pageCount: 3, error: 'no' }, undefined],
    [{ list: [], pageCount: 1.5 }, undefined],
    [[1], undefined],
    ['null', undefined],
    [{ list: [], pageCount: 0 }, 0],
  ])('reads the page count of %j as %s', async (body, pageCount) => {
    expect((await validating(replyOf(body)).run().handled).pageCount).toBe(pageCount);
  });

  it('forwards a stream unread', async () => {
    const body = bodyOf();
    const { judged, run } = validating({ status: 200, headers: [], body });
    const { handled, trace } = run();
    expect(await handled).toMatchObject({ body, facts: { validity: 'skipped', body: { isJson: false } } });
    expect(judged).toEqual([]);
    expect(trace.responses).toMatchObject({ outcome: 'skipped', reason: 'size' });
  });
});

/*
 * The attack: a response is nested so deeply, or has so many values, that parsing it blocks all other requests or
 * traversing it overflows the stack.
 */
describe('a response beyond the limits of JSON', () => {
  const deep = '['.repeat(9) + ']'.repeat(9);
  const large = JSON.stringify(Array.from({ length: 200 }, () => 1));
  const escaped = JSON.stringify({ a: '\n'.repeat(1601) });

  it.each([
    [
      deep,
      'json-depth',
      'The upstream response is nested deeper than 8 levels, which is the limit of upstream.maxJsonDepth.',
    ],
    [
      large,
      'json-values',
      'The upstream response has more than 100 values, which is the limit of upstream.maxJsonValues. Every 64 bytes of a number or white space count as a value.',
    ],
    [
      escaped,
      'json-escapes',
      'The upstream response has more than 1600 escapes in its strings, which is the limit of upstream.maxJsonValues (16 escapes per value).',
    ],
  ])('is not parsed, counts as a violation and is refused at the `enforce` level', async (text, keyword, message) => {
    for (const level of ['report', 'enforce'] as const) {
      const { judged, run } = validating(replyOf(text), VALID, { checks: { responses: level } });
      const { handled, trace } = run();
      if (level === 'enforce')
        expect(await failureOf(handled)).toMatchObject({ code: 'upstream_response_unchecked', message });
      else expect(await handled).toMatchObject({ facts: { validity: 'violations', body: { isJson: false } } });
      expect(trace.violations).toMatchObject([{ category: 'size', location: 'body', keyword, message }]);
      expect(trace.responses).toMatchObject({ verdict: 'violations' });
      expect(judged).toEqual([]);
    }
  });

  it('is only reported at the `enforce` level if its status is an error', async () => {
    const { run } = validating({ ...replyOf(deep), status: 404 }, VALID, { checks: { responses: 'enforce' } });
    const { handled, trace } = run();
    expect(await handled).toMatchObject({ status: 404, facts: { validity: 'violations' } });
    expect(trace.responses).toMatchObject({ outcome: 'reported', verdict: 'violations' });
  });

  it('is not parsed even if no check needs it, and is not stored', async () => {
    const { run } = validating(replyOf(deep), VALID, { checks: { responses: 'off' } });
    expect(await run().handled).toMatchObject({ facts: { validity: 'skipped', body: { isJson: false } } });
  });

  it.each([deep, large, escaped])('is forwarded unchecked in observe mode', async (text) => {
    const reply = replyOf(`*${text}`);
    const { judged, run } = validating(reply, VALID, { transparent: true, checks: { responses: 'report' } });
    const { handled, trace } = run();
    expect(await handled).toMatchObject({ status: 200, body: reply.body, facts: { validity: 'skipped' } });
    expect([trace.responses, trace.violations, judged]).toMatchObject([{ outcome: 'skipped', reason: 'size' }, [], []]);
  });
});

describe('validate-response in observe mode', () => {
  const observe: PlannedParts = { transparent: true };

  it('forwards a response on which the check throws, and records that it threw', async () => {
    const reply = replyOf('*{"a":1}');
    const mistake = new RangeError('Maximum call stack size exceeded');
    const services = validatingServices(() => {
      throw mistake;
    });
    const handle = stageIn(validateResponse(services), plannedWith(observe), createNext(reply));
    const exchange = exchangeWith();
    expect((await handle(exchange)).body).toBe(reply.body);
    expect(exchange.trace).toMatchObject({ responses: { outcome: 'failed', verdict: 'skipped' }, cause: mistake });
    const strict = stageIn(validateResponse(services), plannedWith(), createNext(replyOf({})));
    expect(await failureOf(strict(exchangeWith()))).toBe(mistake);
  });

  it('removes the content coding for the check only', async () => {
    const reply = replyOf('*{"a":1}');
    const { judged, run } = validating(reply, VALID, observe);
    expect((await run().handled).body).toBe(reply.body);
    expect(judged).toMatchObject([{ json: { a: 1 } }]);
  });

  it('checks nothing that it cannot decode', async () => {
    const { judged, run } = validating(replyOf('?'), VALID, observe);
    const { handled, trace } = run();
    await handled;
    expect(judged).toEqual([]);
    expect(trace.responses).toMatchObject({ outcome: 'skipped', reason: 'coding' });
  });

  it('reports a response with a damaged content coding as broken off, and forwards it', async () => {
    const { judged, run } = validating(replyOf('!'), VALID, observe);
    const { handled, trace } = run();
    expect((await handled).body).toEqual(Buffer.from('!'));
    expect(judged).toEqual([]);
    expect(trace.violations).toEqual([]);
    expect(trace.incidents).toMatchObject([{ check: 'upstream', keyword: 'truncated', direction: 'response' }]);
    expect(trace.responses).toMatchObject({ outcome: 'skipped', reason: 'coding' });
  });

  it('does not check the response to HEAD, which has no body', async () => {
    const head: ExchangeParts = { arrival: arrivalWith({ method: 'HEAD' }) };
    const observed = validating(replyOf(''), VALID, observe);
    const { handled, trace } = observed.run(head);
    await handled;
    expect(trace.responses).toMatchObject({ outcome: 'skipped', reason: 'head' });
    const fetched = validating(replyOf({}));
    await fetched.run(head).handled;
    expect([observed.judged.length, fetched.judged.length]).toEqual([0, 1]);
  });
});

describe('a repetition of the same bytes', () => {
  /** Validates several responses one after another and counts the checks. */
  function repeating(parts: PlannedParts = {}) {
    const judged: unknown[] = [];
    const learned: unknown[] = [];
    const state = { judgement: VALID };
    const next = createNext(replyOf(NODES));
    const planner = validateResponse({
      contract: {
        checkResponse: (_operation: unknown, _values: unknown, response: unknown) => {
          judged.push(response);
          return state.judgement;
        },
      },
      messages: {},
      decode: (_headers: unknown, body: Buffer) => Promise.resolve(body),
      namesUpstream: (body: Buffer) => body.includes('http://legacy'),
      isAccepted: () => false,
      ownership: { learn: (nodeId: string, authorName: string) => void learned.push([nodeId, authorName]) },
      knownBodies: createKnownBodies(),
      jsonLimits: LIMITS,
    });
    const handles = new Map<string, Handler>();
    const ask = async (reply: Reply, query = 'page=1', id = 'listThings') => {
      const handle = handles.get(id) ?? stageIn(planner, plannedWith({ ...parts, operation: { id } }), next);
      handles.set(id, handle);
      next.respond = () => reply;
      const exchange = exchangeWith({ arrival: arrivalWith({ query }) });
      return { reply: await handle(exchange), trace: exchange.trace };
    };
    return { ask, judged, learned, state };
  }
  const named = { ...NODES, name: 'http://legacy' };

  it('is not checked again and has the same result', async () => {
    const { ask, judged, learned } = repeating({ checks: { responses: 'enforce' } });
    const first = await ask(replyOf(named));
    await ask(replyOf(named));
    const second = await ask(replyOf(named));
    // A response is stored only when its key occurs for the second time, so the second response is checked too.
    expect(judged).toHaveLength(2);
    expect(second).toEqual(first);
    expect(second.trace).toMatchObject({ legacyAddress: true, responses: { outcome: 'passed', verdict: 'valid' } });
    expect(second.reply).toMatchObject({ facts: { validity: 'valid' }, pageCount: 3 });
    expect(learned).toEqual(Array.from({ length: 3 }, () => ['1', 'alice']));
  });

  it('is forwarded from the new buffer', async () => {
    const { ask } = repeating();
    await ask(replyOf(NODES));
    const reply = replyOf(NODES);
    expect((await ask(reply)).reply.body).toBe(reply.body);
  });

  it.each<[string, Reply, string, string]>([
    ['other bytes of the same length', replyOf({ ...NODES, pageCount: 4 }), 'page=1', 'listThings'],
    ['fewer bytes', replyOf({ list: [] }), 'page=1', 'listThings'],
    ['another page', replyOf(NODES), 'page=2', 'listThings'],
    ['another sort', replyOf(NODES), 'page=1&sort=newest', 'listThings'],
    ['another projection', replyOf(NODES), 'page=1&includeOnly=id', 'listThings'],
    ['another operation', replyOf(NODES), 'page=1', 'listOthers'],
    ['another status', replyOf(NODES, 201), 'page=1', 'listThings'],
    ['another media type', { ...replyOf(NODES), headers: [['Content-Type', 'text/html']] }, 'page=1', 'listThings'],
    ['no media type', { ...replyOf(NODES), headers: [] }, 'page=1', 'listThings'],
  ])('is checked again if there is %s', async (_what, reply, query, id) => {
    const { ask, judged, state } = repeating();
    await ask(replyOf(NODES));
    state.judgement = BROKEN;
    const { trace } = await ask(reply, query, id);
    expect(judged).toHaveLength(2);
    expect(trace.responses).toMatchObject({ outcome: 'reported', verdict: 'violations' });
  });

  it.each<[string, ResponseFindings]>([
    ['broke the contract', BROKEN],
    ['could not be checked', WRAPPED],
  ])('is checked again if the first response %s', async (_what, judgement) => {
    const { ask, judged, state } = repeating();
    state.judgement = judgement;
    await ask(replyOf(NODES));
    const { trace } = await ask(replyOf(NODES));
    expect(judged).toHaveLength(2);
    expect(trace.responses?.verdict).toBe(judgement.verdict);
  });

  it('is checked again if the earlier buffer was modified', async () => {
    const { ask, judged } = repeating();
    await ask(replyOf(NODES));
    const changed = replyOf(NODES);
    if (Buffer.isBuffer(changed.body)) changed.body[1] = 32;
    await ask(changed);
    expect(judged).toHaveLength(2);
  });
});
