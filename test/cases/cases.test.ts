import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { valueAt } from '../../src/lib/json-pointer.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { DISABLED, EVERY_STAGE } from '../builders/every-stage.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { type CaseStep, readCase } from '../builders/read-case.ts';
import { OPERATIONS } from '../builders/operations.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { STORED_TOKENS } from '../builders/tokens-on.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * Each file describes one scenario for operators: the request, the upstream's response, the reply, and the log entry.
 * Every line of the file is checked.
 */

const folder = new URL('.', import.meta.url);
const cases = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.case.txt'))
  .map((name) =>
    Object.assign(readCase(readFileSync(new URL(name, folder), 'utf8')), { name: name.replace('.case.txt', '') }),
  );
/** Returns the names of the cases in a subfolder of this folder. */
const namesIn = (inner: string) =>
  cases.filter(({ name }) => dirname(name) === inner).map(({ name }) => basename(name));

const clock = createTestClock();
let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
});

/** Returns the configuration of a case with the folder of stored tokens in place of its name in braces. */
const withFolders = (config: Readonly<Record<string, unknown>>) =>
  JSON.parse(JSON.stringify(config).replaceAll('{stored-tokens}', STORED_TOKENS)) as Readonly<Record<string, unknown>>;

const gateways = new Map<string, Promise<TestGateway>>();
/**
 * Returns a gateway with this configuration. Cases with the same configuration share a gateway, whose cache is emptied
 * before each case.
 */
async function gatewayFor(config: Readonly<Record<string, unknown>>): Promise<TestGateway> {
  const key = JSON.stringify(config);
  const starting = gateways.get(key) ?? startTestGateway({ upstream: fake, config: withFolders(config), clock });
  gateways.set(key, starting);
  const gateway = await starting;
  await gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });
  return gateway;
}

function handlerOf({ sends, headers }: CaseStep['upstream']): FakeHandler {
  if (sends === 'example') return exampleResponse;
  if (sends === 'breaks') return (_request, response) => void response.socket?.destroy();
  const [status = ''] = sends.split(' ', 1);
  return () => ({
    status: Number(status),
    body: sends.slice(status.length + 1),
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}

/** Formats a header or value as it is written in case files. */
function textOf(value: unknown): string {
  if (value === undefined) return 'absent';
  return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value);
}

/** Delays the upstream's response until this many requests have looked up their pages in the gateway's cache. */
function holdUntil(count: number, { gateway: { services } }: TestGateway): void {
  const { lookup } = services.cache;
  const { handler } = fake;
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  services.cache.lookup = (key) => {
    asked += 1;
    if (asked === count) {
      services.cache.lookup = lookup;
      resolve();
    }
    return lookup(key);
  };
  fake.handler = async (request, response) => {
    await all;
    return handler(request, response);
  };
}

async function take(gateway: TestGateway, step: CaseStep, id: string): Promise<void> {
  fake.requests.length = 0;
  fake.handler = handlerOf(step.upstream);
  if (step.together > 1) holdUntil(step.together, gateway);
  const ids = Array.from({ length: step.together }, (_, index) => (index === 0 ? id : `${id}-${index}`));
  await Promise.all(ids.map((one) => ask(gateway, step, one)));
  expect(fake.requests, 'requests that reach the upstream').toHaveLength(step.asked);
}

async function ask(gateway: TestGateway, step: CaseStep, id: string): Promise<void> {
  const { method, target, user = null, body } = step;
  const headers = {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...step.headers,
    'X-Request-Id': id,
  };
  const got = await gateway.call(target, { method, user, headers, ...(body !== undefined && { body }) });
  const line = await gateway.lineOf(id);
  expect([got.status, got.json?.code]).toEqual([step.status, step.code]);
  for (const [name, value] of Object.entries(step.fields))
    expect([name, textOf(got.headers[name.toLowerCase()])]).toEqual([name, value]);
  for (const [pointer, value] of Object.entries(step.values))
    expect([pointer, valueAt(got.json, pointer)]).toEqual([pointer, JSON.parse(value)]);
  for (const [pointer, value] of Object.entries(step.trace))
    expect([pointer, textOf(valueAt(line, pointer))]).toEqual([pointer, value]);
}

describe('cases', () => {
  it.each(cases)('$name: $title', async ({ name, config, overrides, steps }) => {
    const gateway = await gatewayFor(config);
    for (const body of overrides)
      expect(await gateway.admin('/overrides', { method: 'POST', body })).toMatchObject({ status: 200 });
    for (const [index, step] of steps.entries()) await take(gateway, step, `${basename(name)}-${index}`);
    for (const { operation } of overrides)
      await gateway.admin('/overrides/end', { method: 'POST', body: { operation } });
  });

  it('exist for each operation of the contract, with its name in the file name and the log', () => {
    expect(namesIn('operations').toSorted()).toEqual(OPERATIONS.map(({ id }) => id).toSorted());
    for (const { name, steps } of cases.filter((one) => dirname(one.name) === 'operations'))
      expect(new Set(steps.map(({ trace }) => trace['/operation']))).toEqual(new Set([basename(name)]));
  });

  it('exist for each stage that a request can pass through', async () => {
    const { gateway, admin } = await gatewayFor(EVERY_STAGE);
    await admin('/overrides', { method: 'POST', body: { ...DISABLED, forMinutes: 5 } });
    // The last line, for undocumented requests, lists no stages because undocumented requests are not forwarded without
    // `undocumented.allow`.
    const stages = gateway.planLines
      .slice(0, -1)
      .flatMap((line) => line.match(/[\w-]+(?: → [\w-]+)+/)?.[0].split(' → ') ?? []);
    expect(stages).toContain('refuse-disabled');
    expect(namesIn('stages').toSorted()).toEqual([...new Set(stages)].toSorted());
  });

  it('fail on an unknown line, so that every line is checked', () => {
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
