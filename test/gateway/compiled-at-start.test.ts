import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ReferenceServer, startReferenceServer } from '../../src/reference/start-reference-server.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { badTargetOf, OPERATIONS, operationOf, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const QUERIES = [
  '',
  'includeOnly=id,author.username',
  'includeOnly=id,followers,attachments',
  'include=followers',
  'exclude=body',
  'more=isPrivate',
  'details=true',
  'page=2&pageSize=3',
  'page=1000000',
  'nothing=known',
];

let fake: FakeUpstream;
let reference: ReferenceServer;
/** The gateways in front of the fake upstream. */
const FAKE = ['strict', 'observe'];
const gateways: { readonly name: string; readonly gateway: TestGateway }[] = [];
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  reference = await startReferenceServer();
  gateways.push(
    { name: 'strict', gateway: await startTestGateway({ upstream: fake }) },
    { name: 'observe', gateway: await startTestGateway({ upstream: fake, real: true }) },
    { name: 'reference', gateway: await startTestGateway({ upstream: reference }) },
  );
});
afterAll(() => reference.close());

const compiled: string[] = [];
beforeEach(() => {
  compiled.length = 0;
  const refuse = (how: string) => () => {
    compiled.push(how);
    throw new Error('a schema is compiled while requests are served');
  };
  // Every way of compiling a schema (`compile`, `validate`, `getSchema` and deferred references) ends in one of these
  // functions.
  const internals = Ajv2020.prototype as unknown as Record<'compile' | '_compileSchemaEnv', () => unknown>;
  vi.spyOn(internals, 'compile').mockImplementation(refuse('compile'));
  vi.spyOn(internals, '_compileSchemaEnv').mockImplementation(refuse('_compileSchemaEnv'));
});
afterEach(() => {
  vi.restoreAllMocks();
  fake.handler = exampleResponse;
});

/** Sends requests for all operations to the gateways with these names. Returns the status codes of each gateway. */
const callAll = async (
  names: readonly string[],
  targets: (id: string) => readonly string[],
): Promise<Map<string, Set<number>>> => {
  const statuses = new Map<string, Set<number>>();
  for (const { name, gateway } of gateways.filter((one) => names.includes(one.name))) {
    const seen = new Set<number>();
    for (const { id, method, body, allowed } of OPERATIONS)
      for (const [index, target] of targets(id).entries())
        // Other callers are refused in the same way, regardless of the query.
        for (const user of index === 0 ? [allowed, 'guest', null] : [allowed]) {
          const { status } = await gateway.call(target, { method, user, ...(body !== undefined && { body }) });
          seen.add(status);
        }
    statuses.set(name, seen);
  }
  return statuses;
};

describe('schema compilation', () => {
  it('is detected by these tests', () => {
    expect(() => new Ajv2020().compile({})).toThrow('compiled while');
    const later = new Ajv2020({ validateSchema: false, schemas: [{ $id: 'later' }] });
    expect(() => later.getSchema('later')).toThrow('compiled while');
    expect(compiled).toEqual(['compile', '_compileSchemaEnv']);
  });

  it('never happens for any operation with any projection, detail or page', async () => {
    const statuses = await callAll(['strict', 'observe', 'reference'], (id) =>
      QUERIES.map((query) => targetOf(operationOf(id), query)),
    );
    expect(compiled).toEqual([]);
    for (const seen of statuses.values()) expect(seen).not.toContain(500);
    expect([...(statuses.get('strict') ?? [])]).toEqual(expect.arrayContaining([200, 201, 400, 401]));
  });

  it('never happens for refused requests', async () => {
    const statuses = await callAll(FAKE, (id) => [badTargetOf(operationOf(id))]);
    expect(compiled).toEqual([]);
    expect([...(statuses.get('strict') ?? [])]).toEqual(expect.arrayContaining([400, 401]));
  });

  it.each([
    ['of another form', () => ({ json: { list: 'x', id: 'y', unexpected: true } })],
    ['that are not JSON', () => ({ body: '<p>no</p>', headers: { 'Content-Type': 'text/html' } })],
    ['that are errors', () => ({ status: 404, json: { error: 'not found' } })],
    ['that are failures', () => ({ status: 500, json: { errors: [{ message: 'x' }] } })],
  ])('never happens for responses %s', async (_what, handler) => {
    fake.handler = handler;
    await callAll(FAKE, (id) => [targetOf(operationOf(id))]);
    expect(compiled).toEqual([]);
    expect(fake.requests.length).toBeGreaterThan(OPERATIONS.length);
  });
});
