import { levelsIn } from '../builders/levels-in.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { errorsMessage, errorText, htmlPage, PERMISSION_HTML } from '../builders/error-shapes.ts';
import { type FakeResponse, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const LIST = '/services/v2/question.json';
const ADMIN = { user: 'admin' };
const LOGIN: FakeResponse = { status: 302, headers: { Location: '/login' }, body: '' };

let fake: FakeUpstream;
afterEach(() => fake.close());

async function gatewayFor(response: FakeResponse, config: object): Promise<TestGateway> {
  fake = await startFakeUpstream((request) => (request.path === LIST ? response : exampleResponse(request)));
  return startTestGateway({ upstream: fake, config: { ...config } });
}

async function send(gateway: TestGateway, call: Parameters<TestGateway['call']>[1] = ADMIN) {
  const reply = await gateway.call(LIST, call);
  await gateway.lineOf(String(reply.headers['x-request-id']));
  return reply;
}

/** Every level of `responses`, both error styles and both JSON forms of a message. */
const CASES = (['off', 'report', 'enforce'] as const).flatMap((responses) =>
  (['normalized', 'legacy'] as const).flatMap((errors) =>
    [
      ['{error}', errorText],
      ['{errors: {message}}', errorsMessage],
    ].map(([form, errorWith]) => ({
      responses,
      errors,
      form: form as string,
      errorWith: errorWith as typeof errorText,
    })),
  ),
);

describe('an error in a 200', () => {
  it.each(CASES)('with a permission message, responses: $responses, errors: $errors, $form', async (row) => {
    const operations = { listQuestions: { checks: { responses: row.responses }, errors: row.errors } };
    const gateway = await gatewayFor(row.errorWith(200, PERMISSION_HTML), { mode: 'staging', operations });
    const { status, headers } = await send(gateway);
    // Legacy errors are forwarded unchanged, unless the response breaks the enforced contract.
    const legacy = row.responses === 'enforce' ? 502 : 200;
    expect(status).toBe(row.errors === 'normalized' ? 403 : legacy);
    expect(headers['www-authenticate']).toBeUndefined();
  });

  it.each(CASES)('with another message, responses: $responses, errors: $errors, $form', async (row) => {
    const operations = { listQuestions: { checks: { responses: row.responses }, errors: row.errors } };
    const gateway = await gatewayFor(row.errorWith(200, 'broken'), { mode: 'staging', operations });
    const expected = row.errors === 'legacy' && row.responses !== 'enforce' ? 200 : 502;
    expect((await send(gateway)).status).toBe(expected);
  });

  it('with a permission message is not mistaken for a permission that the roles file denies', async () => {
    for (const mode of ['observe', 'staging']) {
      const gateway = await gatewayFor(errorText(200, PERMISSION_HTML), { mode });
      await send(gateway);
      const { entries } = await gateway.gateway.services.records.snapshot();
      expect(entries.map(({ keyword }) => keyword)).not.toContain('upstream-allowed');
      await fake.close();
    }
  });
});

describe('observe mode', () => {
  it.each([
    ['a login redirect', LOGIN, 302, 502, 'upstream_redirect'],
    ['a permission message with 401', errorsMessage(401, PERMISSION_HTML), 401, 403, 'upstream_permission_denied'],
    ['an HTML page with 404', htmlPage(404), 404, 502, 'upstream_html'],
    ['a 500', errorText(500, 'x'), 500, 502, 'upstream_error'],
    ['an error in a 200', errorText(200, 'x'), 200, 502, 'upstream_error_in_success'],
  ] as const)('foretells what normalized errors would do to %s', async (_what, response, from, to, code) => {
    const gateway = await gatewayFor(response, { mode: 'observe' });
    expect((await send(gateway)).status).toBe(from);
    const { ladder } = levelsIn(gateway.gateway);
    const { records: ledger } = gateway.gateway.services;
    const snapshot = await ledger.snapshot();
    const row = ladder.rows(snapshot).find((one) => one.operation === 'listQuestions' && one.check === 'errors');
    expect(row).toMatchObject({ counts: { reported: 1 }, changes: [{ from, to, count: 1 }] });
    expect(row?.next.text).toContain('operations.listQuestions.errors: legacy');
    expect(snapshot.entries.find(({ check }) => check === 'errors')).toMatchObject({ status: from, keyword: code });
    const labels = `operation="listQuestions",from="${String(from).charAt(0)}xx",to="${to}"`;
    expect(await gateway.metric(`portico_error_status_changes_total{${labels}}`)).toBe(1);
    expect(await gateway.metric('portico_checks_total{check="errors",outcome="reported"}')).toBe(1);
    // The foretold change is what happens once errors are normalized.
    await fake.close();
    const staging = await gatewayFor(response, { mode: 'staging' });
    expect((await send(staging)).status).toBe(to);
    expect(await staging.metric(`portico_error_status_changes_total{${labels}}`)).toBe(1);
  });

  it('foretells nothing for an operation whose errors are kept', async () => {
    const operations = { listQuestions: { errors: 'legacy' } };
    const gateway = await gatewayFor(LOGIN, { mode: 'observe', operations });
    await send(gateway);
    const { entries } = await gateway.gateway.services.records.snapshot();
    expect(entries.filter(({ check }) => check === 'errors')).toEqual([]);
  });
});

describe('an accepted error', () => {
  it.each([
    ['a redirect, by its violation', LOGIN, 'responses', 302],
    ['a redirect, by its status change', LOGIN, 'errors', 302],
    ['an error in a 200, by its violation', errorText(200, 'x'), 'responses', 200],
    ['a permission message in a 200, by its status change', errorText(200, PERMISSION_HTML), 'errors', 200],
    ['an HTML page with 401, by its violations', htmlPage(401), 'responses', 401],
  ] as const)('is forwarded as with legacy errors: %s', async (_what, response, check, status) => {
    const baseline = join(tempFolder(), 'baseline.yaml');
    const config = { contract: { baseline } };
    const accept = (fingerprints: readonly string[]) => {
      const accepted = fingerprints.map((fingerprint) => ({ fingerprint, reason: 'known', owner: 'team q' }));
      writeFileSync(baseline, JSON.stringify({ accepted }));
    };
    accept([]);
    const observing = await gatewayFor(response, { mode: 'observe', ...config });
    await send(observing);
    const { entries } = await observing.gateway.services.records.snapshot();
    accept(entries.filter((entry) => entry.check === check).map(({ fingerprint }) => fingerprint));
    await fake.close();
    for (const mode of ['staging', 'strict']) {
      const gateway = await gatewayFor(response, { mode, ...config });
      const reply = await send(gateway);
      expect(reply.status).toBe(status);
      if (check === 'responses') expect(reply.headers['contract-status']).toMatch(/^accepted/);
      expect(await gateway.metric('portico_checks_total{check="errors",outcome="passed"}')).toBe(1);
      expect(await gateway.metric('portico_error_budget_spent_total{operation="listQuestions"}')).toBe(0);
      await fake.close();
    }
  });
});

describe('the error budget', () => {
  it.each([
    ['a login redirect', LOGIN, 0],
    ['an error in a 200', errorText(200, 'x'), 0],
    ['an HTML page with 404', htmlPage(404), 0],
    ['a status that says nothing to clients', errorText(418, 'x'), 0],
    ['a 500', errorText(500, 'x'), 1],
  ] as const)('is not spent by what an anonymous visitor can cause: %s', async (_what, response, spent) => {
    const config = { mode: 'staging', authentication: { anonymous: 'allow' } };
    const gateway = await gatewayFor(response, config);
    expect((await send(gateway, { user: null })).status).toBe(502);
    expect(await gateway.metric('portico_error_budget_spent_total{operation="listQuestions"}')).toBe(spent);
  });
});
