import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ReferenceServer, startReferenceServer } from '../../src/reference/start-reference-server.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { fileWith, overlayFile } from '../engine/contract/overlay/overlay-file.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'contract.md'), 'utf8');
/** The complete overlay from the documentation. */
const shown = /```yaml\n(?<overlay>overlay: 1\.0\.0\n.*?)```/s.exec(page)?.groups?.['overlay'] ?? '';

const QUESTIONS = '/services/v2/question.json';
const IS_UNEXPECTED = /unexpectedField$/;

let reference: ReferenceServer;
let plain: TestGateway;
let overlaid: TestGateway;
let question: string;
beforeAll(async () => {
  reference = await startReferenceServer({ complete: true });
  const config = { cache: { enabled: false } };
  plain = await startTestGateway({ upstream: reference, config });
  overlaid = await startTestGateway({
    upstream: reference,
    config: { ...config, contract: { overlays: [fileWith(shown)] } },
  });
  const list = await plain.call(`${QUESTIONS}?pageSize=1`);
  question = `/services/v2/question/${String(list.json?.list[0].id)}.json`;
});
afterAll(() => reference.close());

const keywords = async ({ gateway }: TestGateway, at: RegExp) =>
  (await gateway.services.records.snapshot()).entries
    .filter((entry) => at.test(entry.at))
    .map((entry) => entry.keyword);

describe('the overlay in the documentation of the contract', () => {
  it('stops the violations for the field that it documents', async () => {
    reference.setChaos(['extra-field']);
    for (const gateway of [plain, overlaid]) expect((await gateway.call(QUESTIONS)).status).toBe(200);
    expect(await keywords(plain, IS_UNEXPECTED)).toHaveLength(1);
    expect(await keywords(overlaid, IS_UNEXPECTED)).toEqual([]);
    reference.setChaos([]);
    expect((await overlaid.call(QUESTIONS)).headers['contract-status']).toBe('conforming');
  });

  it('turns a path into an operation: planned, with checked parameters, checked and counted', async () => {
    const before = await plain.call(question);
    expect([before.status, before.json?.['code']]).toEqual([404, 'not_in_contract']);
    const response = await overlaid.call(question);
    expect([response.status, response.headers['contract-status']]).toEqual([200, 'conforming']);
    expect(overlaid.gateway.planLines.find((line) => line.includes('/question/{questionId}.json'))).toMatch(
      /^GET .*authorize → validate-body → translate-failure → validate-response → forward$/,
    );
    expect(plain.gateway.planLines).toHaveLength(overlaid.gateway.planLines.length - 1);
    expect((await overlaid.call('/services/v2/question/abc.json')).json?.['code']).toBe('invalid_parameter');
    expect((await overlaid.call(`${question}?nothing=1`)).json?.['code']).toBe('unknown_parameter');
    expect((await overlaid.call('/services/v2/question/999999999.json')).status).toBe(404);
    expect((await overlaid.call(question, { user: null })).status).toBe(401);
    expect(await overlaid.metric('portico_http_requests_total{operation="getQuestion",status_class="2xx"}')).toBe(1);
    expect(await plain.metric('portico_http_requests_total{operation="getQuestion",status_class="2xx"}')).toBeNaN();
  });

  it('makes new violations possible on the path that it documents', async () => {
    reference.setChaos(['missing-field:title']);
    const response = await overlaid.call(question);
    reference.setChaos([]);
    expect(response.headers['contract-status']).toMatch(/^violations; count=1; worst=advisory; report=\w+$/);
    expect(await keywords(overlaid, /^\/title$/)).toEqual(['x-expected']);
  });

  it('gives its contract a new version, which is part of every page key', async () => {
    const scrapes = await Promise.all([plain, overlaid].map((gateway) => gateway.admin('/metrics')));
    const versions = scrapes.map(({ text }) => /contract="(?<version>[0-9a-f]{12})"/.exec(text)?.groups?.['version']);
    expect(versions[0]).toMatch(/^\w{12}$/);
    expect(new Set(versions).size).toBe(2);
  });
});

describe('an overlay', () => {
  it('determines who may use the operation that it documents', async () => {
    const get = "$.paths['/services/v2/question/{questionId}.json'].get";
    const stricter = overlayFile(
      { target: '$.x-permissions', update: { name: 'Read single questions', provenance: 'inferred' } },
      { target: `${get}['x-requires']`, remove: true },
      { target: get, update: { 'x-requires': { any: [{ permission: 'Read single questions' }, { flag: 'admin' }] } } },
    );
    const gateway = await startTestGateway({
      upstream: reference,
      config: { contract: { overlays: [fileWith(shown), stricter] } },
    });
    const refused = await gateway.call(question, { user: 'alice' });
    expect([refused.status, refused.json?.['code']]).toEqual([403, 'permission_denied']);
    expect((await gateway.call(question, { user: 'admin' })).status).toBe(200);
  });

  it('turns values outside a restricted list into violations', async () => {
    const tighter = overlayFile({ target: '$.components.schemas.Node.properties.type', update: { enum: ['idea'] } });
    const gateway = await startTestGateway({ upstream: reference, config: { contract: { overlays: [tighter] } } });
    const response = await gateway.call(`${QUESTIONS}?pageSize=3`);
    expect(response.status).toBe(200);
    expect(response.headers['contract-status']).toMatch(/^violations; count=1; worst=enum/);
  });

  it('is reported at startup if one of its targets selects nothing', async () => {
    const file = overlayFile({ target: '$.components.schemas.Qestion', update: {} });
    const gateway = await startTestGateway({ upstream: reference, config: { contract: { overlays: [file] } } });
    expect(gateway.log.join('')).toContain('selects nothing: $.components.schemas.Qestion');
  });
});
