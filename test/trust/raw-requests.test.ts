import { connect as connectTls, createSecureContext } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/lib/clock.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeRequest, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { tlsFiles } from '../builders/tls.ts';
import { GOOD_REQUEST, RAW_CASES, type RawCase } from './raw-cases.ts';
import {
  expectedOutcome,
  mapInParallel,
  type RawResult,
  type RawSide,
  runRawCase,
  sendBytes,
  statusesIn,
} from './raw-runner.ts';

/*
 * The attack: a message is almost valid HTTP/1.1, so that Portico reads its bytes differently from the load balancer or
 * proxy in front of it, or from the server behind it. If two of them disagree on the Host, the version, the end of the
 * body or the number of requests, one checks a different request from the one that the other executes. Therefore, these
 * messages are refused with the usual error body before anything is sent upstream, and the rest of the connection is
 * not read. After all other messages, the next message on the connection is read from the right byte.
 */

/** On a busy machine, pipelined requests may have to wait a long time for the upstream to serve others. */
const PATIENT = { queue: 1000, queueTimeoutMs: 60_000, totalTimeoutMs: 60_000 };

/** Returns the documented response, but always with status 200, which simplifies the case table. */
const respond = (request: FakeRequest) => {
  const response = exampleResponse(request);
  return response.status === 404 ? { json: {} } : { ...response, status: 200 };
};

let fake: FakeUpstream;
let strict: TestGateway;
const sides = new Map<string, RawSide>();
beforeAll(async () => {
  fake = await startFakeUpstream(respond);
  const start = (given: Record<string, unknown> = {}, options: { clock?: Clock } = {}) =>
    startTestGateway({ upstream: fake, config: { upstream: PATIENT, ...given }, ...options });
  strict = await start();
  // The page stays fresh until all other cases have finished.
  const storing = await start({}, { clock: createTestClock() });
  const allowing = await start({ undocumented: { allow: [{ method: '*', path: '/services/v2/**' }] } });
  const observing = await start({ mode: 'observe' });
  const portOf = ({ url }: TestGateway) => Number(new URL(url).port);
  const page = { page: '/services/v2/question.json', etag: '' };
  const { headers } = await storing.call(page.page);
  page.etag = String(headers.etag);
  const targets = (id: number) => ({
    id: String(id),
    target: `/services/v2/comment/${id}.json`,
    write: `/services/v2/node/${id}/comment.json`,
    ...page,
  });
  sides.set('a documented path', { port: portOf(strict), upstream: fake, targets });
  sides.set(AFTER_GOOD_ONES, { port: portOf(strict), upstream: fake, targets });
  const admin = () => ({ id: '0', target: '/livez', write: '/livez', ...page });
  sides.set('the admin side', { port: Number(new URL(strict.adminUrl).port), upstream: fake, targets: admin });
  const files = tlsFiles();
  const secure = await start({ listen: { tls: files.options } });
  const secureContext = createSecureContext({ ca: files.authority.cert });
  const dial = (port: number) => connectTls({ port, host: '127.0.0.1', secureContext, servername: 'localhost' });
  sides.set(OVER_TLS, { port: portOf(secure), dial, upstream: fake, targets });
  sides.set('a stored page', { port: portOf(storing), upstream: fake, targets });
  sides.set('a documented path in observe mode', {
    port: portOf(observing),
    upstream: fake,
    targets,
    differs: ({ observe }) => observe,
  });
  const undocumented = (id: number) => ({
    id: String(id),
    target: `/services/v2/other/${id}`,
    write: `/services/v2/other/${id}`,
    ...page,
  });
  sides.set('an undocumented path', {
    port: portOf(allowing),
    upstream: fake,
    targets: undocumented,
    // On these paths, bodies are streamed and every method is allowed.
    differs: ({ group, statuses, observe }) =>
      group !== 'a target' && statuses[0] !== 401 && !observe?.statuses?.includes(401) ? observe : undefined,
  });
  sides.set('an undocumented path in observe mode', {
    port: portOf(observing),
    upstream: fake,
    targets: undocumented,
    differs: ({ observe }) => observe,
  });
});

const AFTER_GOOD_ONES = 'a documented path, after two good requests';
const OVER_TLS = 'a documented path over TLS';
/**
 * The groups of cases that are also sent over TLS. The others are not, because handshakes would take up most of the
 * time.
 */
const FRAMING_GROUPS = new Set([
  'a length that is',
  'a transfer coding that is',
  'a chunk',
  'a pipeline of',
  'an expectation',
]);
const SIDES = [
  'a documented path',
  AFTER_GOOD_ONES,
  'a documented path in observe mode',
  OVER_TLS,
  'an undocumented path',
  'an undocumented path in observe mode',
  'a stored page',
  'the admin side',
];

function casesOf(side: string): RawCase[] {
  if (side === 'the admin side') return RAW_CASES.filter((one) => isRefusedHead(one));
  if (side === AFTER_GOOD_ONES)
    // An invalid byte must not deprive other callers on the same connection of their responses, especially those to
    // writes.
    return RAW_CASES.filter((one) => isRefusedHead(one)).map(afterTwoGoodRequests);
  if (side === OVER_TLS) return RAW_CASES.filter(({ group }) => FRAMING_GROUPS.has(group));
  return RAW_CASES.filter(({ group }) => group.startsWith('the stored page') === (side === 'a stored page'));
}

function afterTwoGoodRequests(one: RawCase): RawCase {
  const { group, name, statuses, closed } = one;
  const bytes: RawCase['bytes'] = (targets) => GOOD_REQUEST(targets) + GOOD_REQUEST(targets) + one.bytes(targets);
  return { group, name, bytes, statuses: [200, 200, ...statuses], upstream: 2, closed };
}

/** Returns whether a case is refused because of its head, and therefore never reaches the application. */
function isRefusedHead({ group, statuses, closed, observe }: RawCase): boolean {
  const [status = 0, ...more] = statuses;
  return closed && more.length === 0 && status >= 400 && observe === undefined && group !== 'a chunk';
}

it('tries at least 500 different messages', () => {
  expect(new Set(RAW_CASES.map(({ group, name }) => `${group} ${name}`)).size).toBe(RAW_CASES.length);
  expect(RAW_CASES.length).toBeGreaterThanOrEqual(500);
});

describe.each(SIDES)('on %s, the gateway responds to', (name) => {
  const cases = casesOf(name);
  const results = new Map<RawCase, RawResult>();
  const sideOf = () => sides.get(name) as RawSide;
  beforeAll(async () => {
    fake.requests.length = 0;
    const all = await mapInParallel(cases, 16, (one) => runRawCase(sideOf(), one));
    cases.forEach((one, index) => results.set(one, all[index] as RawResult));
  });

  it.each(cases)('$group $name: $statuses', (one) => {
    const { text, ...result } = results.get(one) as RawResult;
    const expected = expectedOutcome(sideOf(), one);
    expect(result).toEqual({ ...expected, broken: false });
    const last = text.slice(text.lastIndexOf('HTTP/1.1 '));
    if (expected.closed) expect(last).toMatch(/^Connection: close\r$/im);
    if (expected.closed && (statusesIn(last)[0] ?? 0) >= 400)
      expect(JSON.parse(last.slice(last.indexOf('\r\n\r\n')))).toMatchObject({ status: statusesIn(last)[0] });
  });

  it('sends nothing else upstream', () => {
    const known = (request: FakeRequest) =>
      /^\d{7}$/.test(String(request.headers['x-case'])) || /\/\d{7}/.test(request.target);
    expect(
      fake.requests.filter((request) => !known(request)).map(({ method, target }) => `${method} ${target}`),
    ).toEqual([]);
  });
});

it('counts refused messages, on both sides', async () => {
  for (const name of ['a documented path', 'the admin side']) {
    const count = () => strict.metric('portico_errors_total{operation="undocumented",code="malformed_request"}');
    const before = await count();
    await sendBytes((sides.get(name) as RawSide).port, 'GET / HTTP/1.2\r\n\r\n');
    expect(await count()).toBe(before + 1);
  }
});
