import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { valueAt } from '../../src/lib/json-pointer.ts';
import { exampleAnswer } from '../builders/example-answer.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { type CaseStep, readCase } from '../builders/read-case.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * One scenario per file, readable by an operator: what is asked, what the upstream would answer, what comes back, and what
 * the log says of it. Every line of a file is checked.
 */

const folder = new URL('.', import.meta.url);
const cases = readdirSync(folder)
  .filter((name) => name.endsWith('.case.txt'))
  .map((name) => Object.assign({ name }, readCase(readFileSync(new URL(name, folder), 'utf8'))));

const clock = createTestClock();
let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleAnswer);
});

const gateways = new Map<string, Promise<TestGateway>>();
/** Cases with one configuration share a gateway, whose memory is emptied between them. */
async function gatewayFor(config: Readonly<Record<string, unknown>>): Promise<TestGateway> {
  const key = JSON.stringify(config);
  const starting = gateways.get(key) ?? startTestGateway({ upstream: fake, config, clock });
  gateways.set(key, starting);
  const gateway = await starting;
  await gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });
  return gateway;
}

function handlerOf({ answer, headers }: CaseStep['upstream']): FakeHandler {
  if (answer === 'example') return exampleAnswer;
  if (answer === 'breaks') return (_request, response) => void response.socket?.destroy();
  const [status = ''] = answer.split(' ', 1);
  return () => ({
    status: Number(status),
    body: answer.slice(status.length + 1),
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}

/** A field or a value as a case file writes it. */
function textOf(value: unknown): string {
  if (value === undefined) return 'absent';
  return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value);
}

async function take(gateway: TestGateway, step: CaseStep, id: string): Promise<void> {
  fake.requests.length = 0;
  fake.handler = handlerOf(step.upstream);
  const { method, target, user = null, body } = step;
  const headers = {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...step.headers,
    'X-Request-Id': id,
  };
  const got = await gateway.call(target, { method, user, headers, ...(body !== undefined && { body }) });
  const line = await gateway.lineOf(id);
  expect([got.status, got.json?.code]).toEqual([step.status, step.code]);
  expect(fake.requests, 'requests that reach the upstream').toHaveLength(step.asked);
  for (const [name, value] of Object.entries(step.fields))
    expect([name, textOf(got.headers[name.toLowerCase()])]).toEqual([name, value]);
  for (const [pointer, value] of Object.entries(step.values))
    expect([pointer, valueAt(got.json, pointer)]).toEqual([pointer, JSON.parse(value)]);
  for (const [pointer, value] of Object.entries(step.trace))
    expect([pointer, textOf(valueAt(line, pointer))]).toEqual([pointer, value]);
}

describe('cases', () => {
  it.each(cases)('$name: $title', async ({ name, config, steps }) => {
    const gateway = await gatewayFor(config);
    for (const [index, step] of steps.entries()) await take(gateway, step, `${name.replace('.case.txt', '')}-${index}`);
  });

  it('a line that is not understood is an error, so that none goes unchecked', () => {
    const request = 'request\n  GET /x\n  as bob';
    for (const text of [
      `T\n\n${request}\n  wth header`,
      `T\n\n${request}\n\nexpects\n  200`,
      'T\n\nexpect\n  200',
      `T\n\n${request}\n\ntrace\n  nothing`,
    ])
      expect(() => readCase(text)).toThrow();
  });
});
