import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReferenceServer, type ReferenceServer } from '../../src/reference/start-reference-server.ts';
import { callAt, type ClientResponse } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { expectError } from '../builders/expect-error.ts';
import { errorsMessage, errorText, htmlPage, PERMISSION_HTML, PERMISSION_TEXT } from '../builders/error-shapes.ts';
import { startFakeUpstream, type FakeUpstream } from '../builders/fake-upstream.ts';
import { badTargetOf, type Ids, OPERATIONS, type OperationCase, targetOf } from '../builders/operations.ts';
import type { Items, LegacyBody } from '../reference/legacy-body.ts';
import { anyText, textLike } from '../reference/matchers.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

function send(
  gateway: TestGateway,
  operation: OperationCase,
  target: string,
  user: string | null,
): Promise<ClientResponse> {
  const { method, body } = operation;
  return gateway.call(target, { method, user, ...(body === undefined ? {} : { body }) });
}

describe('in front of the reference server', () => {
  let reference: ReferenceServer;
  let gateway: TestGateway;
  let ids: Ids;
  beforeAll(async () => {
    reference = await startReferenceServer();
    ids = await idsOf(reference);
    gateway = await startTestGateway({ upstream: reference });
  });
  afterAll(() => reference.close());

  describe.each(OPERATIONS)('$id', (operation) => {
    it("returns the upstream's response to an allowed caller, byte for byte", async () => {
      const response = await send(gateway, operation, targetOf(operation, '', ids), operation.allowed);
      expect([response.status, response.json?.error]).toEqual([operation.success, undefined]);
      expect(response.headers).toMatchObject({
        'content-type': textLike(/^application\/json\b/),
        'content-length': String(response.bytes.length),
        'x-request-id': anyText,
        'contract-status': 'conforming',
      });
      expect(response.headers['set-cookie']).toBeUndefined();
      expect(response.headers['cache-control']).toBe(operation.cached ? 'private, no-cache' : 'private, no-store');
      expect(response.headers.etag !== undefined).toBe(operation.cached === true);
      if (operation.method !== 'GET') return;
      const direct = await send(
        { call: at(reference) } as TestGateway,
        operation,
        targetOf(operation, '', ids),
        operation.allowed,
      );
      if (response.headers['portico-redacted'] === undefined) expect(response.bytes).toEqual(direct.bytes);
    });

    if (operation.method === 'GET')
      it('returns the same headers and no body for HEAD', async () => {
        const target = targetOf(operation, '', ids);
        const get = await send(gateway, operation, target, operation.allowed);
        const head = await gateway.call(target, { method: 'HEAD', user: operation.allowed });
        expect([head.status, head.bytes.length]).toEqual([get.status, 0]);
        for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'contract-status'])
          expect(head.headers[name], name).toBe(get.headers[name]);
      });

    if (operation.denied !== undefined)
      it('refuses a caller without the permission with 403', async () => {
        const response = await send(gateway, operation, targetOf(operation, '', ids), operation.denied ?? '');
        expectError(response, 403, 'permission_denied');
        const { permission, group, flag } = response.json.details[0];
        expect(permission ?? group ?? flag).toEqual(anyText);
        if (operation.text403 !== undefined) expect(response.json.error).toBe(operation.text403);
      });

    it('refuses an anonymous caller with 401', async () => {
      expectError(await send(gateway, operation, targetOf(operation, '', ids), null), 401, 'credentials_required');
    });

    it('refuses a wrong password with 401', async () => {
      const response = await gateway.call(targetOf(operation, '', ids), {
        method: operation.method,
        user: operation.allowed,
        password: 'wrong',
      });
      expectError(response, 401, 'credentials_refused');
    });

    it('refuses an invalid parameter with 400 and names it', async () => {
      const response = await send(gateway, operation, badTargetOf(operation, ids), operation.allowed);
      const unknown =
        operation.badQuery === 'colour=blue' || operation.id === 'uploadGdprFile' || operation.id === 'unmarkFavorite';
      expectError(response, 400, unknown ? 'unknown_parameter' : 'invalid_parameter');
      expect(response.json.details[0]).toMatchObject({
        in: operation.badId === undefined ? 'query' : 'path',
        name: operation.badId === undefined ? operation.badQuery?.split('=')[0] : `${operation.badId}Id`,
      });
      if (operation.text400 !== undefined && operation.badId !== undefined)
        expect(response.json.error).toBe(operation.text400);
    });

    if (operation.paged)
      it('refuses a page size above the maximum with 400', async () => {
        const response = await send(gateway, operation, targetOf(operation, 'pageSize=101', ids), operation.allowed);
        expectError(response, 400, 'page_size_out_of_bounds');
        expect(response.json.details[0]).toMatchObject({ in: 'query', name: 'pageSize' });
      });

    if (operation.counted)
      it('refuses a page beyond the last one with 400', async () => {
        const response = await send(gateway, operation, targetOf(operation, 'page=9000', ids), operation.allowed);
        expectError(response, 400, 'page_out_of_bounds');
        expect(response.json.details[0]).toMatchObject({ in: 'query', name: 'page' });
      });

    it('refuses a method that its path does not have with 405', async () => {
      const response = await gateway.call(targetOf(operation, '', ids), { method: 'DELETE', user: 'admin' });
      expectError(response, 405, 'method_not_allowed');
      expect(response.headers.allow).toBe(operation.allow);
    });
  });
});

describe('in front of a failing upstream', () => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeUpstream(() => ({ status: 500 }));
    gateway = await startTestGateway({ upstream: fake });
  });

  describe.each(OPERATIONS)('$id', (operation) => {
    const caller = operation.allowed;

    it('keeps the status and text of {error}', async () => {
      fake.handler = () => errorText(404, 'not found');
      const response = await send(gateway, operation, targetOf(operation), caller);
      expectError(response, 404, 'upstream_not_found');
      expect(response.json.error).toBe('not found');
    });

    it('reads a missing permission from {errors: {message}} with 401, without markup', async () => {
      fake.handler = () => errorsMessage(401, PERMISSION_HTML, { 'WWW-Authenticate': 'Basic realm="legacy"' });
      const response = await send(gateway, operation, targetOf(operation), caller);
      expectError(response, 403, 'upstream_permission_denied');
      expect(response.json.error).toBe(PERMISSION_TEXT);
    });

    it('turns an HTML page with 401 into a 502', async () => {
      fake.handler = () => htmlPage(401);
      expectError(await send(gateway, operation, targetOf(operation), caller), 502, 'upstream_html');
    });

    it('responds as before once the upstream has recovered', async () => {
      fake.handler = ({ method }) => ({
        status: method === operation.method ? operation.success : 200,
        json: method === operation.method ? exampleOf(operation.id) : { author: { username: caller } },
      });
      const response = await send(gateway, operation, targetOf(operation), caller);
      expect([response.status, response.json?.error]).toEqual([operation.success, undefined]);
      expect(response.headers['contract-status']).toBe('conforming');
    });
  });
});

const at =
  (reference: ReferenceServer): TestGateway['call'] =>
  (target, call) =>
    callAt(reference.url, target, call);

/**
 * Returns ids of resources in the seeded community, so that every operation finds one. Some of them belong to alice.
 */
async function idsOf(reference: ReferenceServer): Promise<Ids> {
  const call = at(reference);
  const numbers = [1, 2, 3, 4, 5];
  const pages = await Promise.all(numbers.map((page) => call(`/services/v2/question.json?pageSize=100&page=${page}`)));
  const questions = pages.flatMap(({ json }): readonly LegacyBody[] => json.list) as unknown as Items<LegacyBody>;
  const wiki = questions.find((question) => question.wiki);
  const answered = questions.find((question) => question.answers.length > 0);
  const tagged = questions.find((question) => question.topics.length > 0);
  const followers = await call(`/services/v2/topic/${tagged.topics[0].id}/followers.json`);
  const node = String(wiki.id);
  const own = { user: 'alice', method: 'POST', body: { body: 'Mine.' } };
  const comment = await call(`/services/v2/node/${node}/comment.json`, own);
  await call(`/services/v2/node/${node}/markfavorite.json`, { user: 'alice', method: 'PUT' });
  return {
    job: '2',
    node,
    issue: '10001',
    comment: String(comment.json.id),
    group: String(followers.json.list.find((user) => user.groups.length > 0).groups[0].id),
    topic: String(tagged.topics[0].id),
    user: String(answered.author.id),
    answer: String(answered.answers[0]),
  };
}
