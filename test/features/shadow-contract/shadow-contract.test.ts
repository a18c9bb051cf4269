import { copyFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../../src/engine/model/ledger-entry.ts';
import { type ReferenceServer, startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { overlayFile } from '../../engine/contract/overlay/overlay-file.ts';

const QUESTIONS = '/services/v2/question.json';

let reference: ReferenceServer;
beforeAll(async () => {
  reference = await startReferenceServer();
});
afterAll(() => reference.close());

/** Starts a gateway whose shadow contract uses these overlays. By default, the gateway stores no pages. */
const gatewayWith = (overlays: readonly string[], more: Readonly<Record<string, unknown>> = {}) =>
  startTestGateway({
    upstream: reference,
    config: { cache: { enabled: false }, ...more, contract: { candidate: { overlays } } },
  });

const entriesOf = async ({ gateway }: TestGateway): Promise<readonly LedgerEntry[]> =>
  (await gateway.services.records.snapshot()).entries;

const differing = async (gateway: TestGateway) =>
  (await entriesOf(gateway)).filter(({ candidate }) => candidate !== undefined);

/** Waits until a metric series is above zero and returns its value. */
async function counted(
  gateway: TestGateway,
  difference: string,
  operation = 'listQuestions',
  least = 1,
): Promise<number> {
  const series = `portico_candidate_differences_total{operation="${operation}",difference="${difference}"}`;
  // Each scrape also gives pending work a chance to run.
  for (;;) {
    const value = await gateway.metric(series);
    if (value >= least) return value;
  }
}

const tighter = () =>
  overlayFile({ target: '$.components.schemas.Author.properties.reputation', update: { maximum: -1 } });

describe('a shadow contract', () => {
  it('reports what it would newly refuse in responses and changes nothing', async () => {
    const gateway = await gatewayWith([tighter()]);
    const response = await gateway.call(QUESTIONS);
    expect(response.status).toBe(200);
    expect(response.headers['contract-status']).toBe('conforming');
    expect(await counted(gateway, 'newly-refused')).toBeGreaterThan(0);
    const found = await differing(gateway);
    expect(found[0]).toMatchObject({
      operation: 'listQuestions',
      check: 'responses',
      direction: 'response',
      status: 200,
      keyword: 'maximum',
      category: 'bounds',
      candidate: 'newly-refused',
    });
    expect(
      await gateway.metric(
        'portico_contract_violations_total{operation="listQuestions",direction="response",category="bounds",accepted="false"}',
      ),
    ).toBe(0);
    expect(await gateway.metric('portico_checks_total{check="responses",outcome="reported"}')).toBe(0);
    expect(await gateway.metric('portico_http_requests_total{operation="listQuestions",status_class="2xx"}')).toBe(1);
    expect(await gateway.metric('portico_upstream_answers_total{operation="listQuestions",status_class="2xx"}')).toBe(
      1,
    );
  });

  it('reports what it would newly refuse and newly accept in parameters', async () => {
    const gateway = await gatewayWith([
      overlayFile(
        { target: '$.components.parameters.pageSize.schema', update: { maximum: 10 } },
        {
          target: `$.paths['${QUESTIONS}'].get.parameters`,
          update: { name: 'space', in: 'query', 'x-provenance': 'inferred', schema: { type: 'string' } },
        },
      ),
    ]);
    expect((await gateway.call(`${QUESTIONS}?pageSize=20`)).status).toBe(200);
    expect((await gateway.call(`${QUESTIONS}?space=1`)).status).toBe(400);
    await counted(gateway, 'newly-refused');
    await counted(gateway, 'newly-accepted');
    const found = (await differing(gateway)).map(({ at, candidate, check }) => [at, candidate, check]);
    expect(found).toContainEqual(['pageSize', 'newly-refused', 'requests']);
    expect(found).toContainEqual(['space', 'newly-accepted', 'requests']);
    expect(found).toHaveLength(2);
  });

  it('reports what it would newly refuse in bodies', async () => {
    const gateway = await gatewayWith([
      overlayFile({ target: '$.components.schemas.CommentWrite.properties.body', update: { maxLength: 3 } }),
    ]);
    const created = await gateway.call('/services/v2/node/1/comment.json', {
      method: 'POST',
      body: JSON.stringify({ body: 'longer than three' }),
      headers: { 'content-type': 'application/json' },
    });
    expect(created.json?.['code']).not.toBe('invalid_body');
    await counted(gateway, 'newly-refused', 'createComment');
    expect(await differing(gateway)).toMatchObject([
      { operation: 'createComment', keyword: 'maxLength', direction: 'request' },
    ]);
  });

  it('counts a difference in every item of a body once', async () => {
    const name = '$.components.schemas.CommentWrite.properties.recipients.items.properties.name';
    const gateway = await gatewayWith([overlayFile({ target: name, update: { maxLength: 3 } })]);
    const recipients = [7, 8, 9].map((id) => ({ id, name: 'longer than three', type: 'group' }));
    await gateway.call('/services/v2/node/1/comment.json', {
      method: 'POST',
      body: JSON.stringify({ body: 'text', recipients }),
      headers: { 'content-type': 'application/json' },
    });
    expect(await counted(gateway, 'newly-refused', 'createComment')).toBe(1);
    expect(await differing(gateway)).toHaveLength(1);
  });

  it('reports operations that only one of the two contracts has', async () => {
    const gateway = await gatewayWith([overlayFile({ target: "$.paths['/services/v2/idea.json']", remove: true })]);
    await gateway.call('/services/v2/idea.json');
    await counted(gateway, 'newly-refused', 'listIdeas');
    expect(await differing(gateway)).toMatchObject([
      { operation: 'listIdeas', check: 'undocumented', at: '/services/v2/idea.json', candidate: 'newly-refused' },
    ]);
  });

  it('reports such an operation in readable text, even if its path has a parameter', async () => {
    const path = '/services/v2/topic/{topicId}/followers.json';
    const gateway = await gatewayWith([overlayFile({ target: `$.paths['${path}']`, remove: true })]);
    await gateway.call('/services/v2/topic/38/followers.json');
    await counted(gateway, 'newly-refused', 'listTopicFollowers');
    const at = '/services/v2/topic/*/followers.json';
    expect(await differing(gateway)).toMatchObject([{ at, message: `only the live contract has GET ${at}` }]);
  });

  it('warns at startup about changes that reports will not show and targets that select nothing', async () => {
    const nothing = overlayFile({ target: '$.components.schemas.Qestion', update: {} });
    const changed = overlayFile({
      target: `$.paths['${QUESTIONS}'].get['x-requires']`,
      update: { permission: 'View analytics' },
    });
    const log = (await gatewayWith([nothing, changed])).log.join('');
    expect(log).toContain('the shadow contract: selects nothing');
    expect(log).toContain('the shadow contract changes x-requires of listQuestions, which reports will not show');
    expect(log.match(/which reports will not show/g)).toHaveLength(1);
  });

  it('reports nothing if both verdicts are the same', async () => {
    const gateway = await gatewayWith([overlayFile({ target: '$.info', update: { title: 'Another' } })]);
    await gateway.call(QUESTIONS);
    await gateway.call(`${QUESTIONS}?page=x`);
    await gateway.call('/services/v2/nothing.json');
    // The second gateway's comparison starts after those of the first gateway, so once it has finished, they have
    // finished too.
    const after = await gatewayWith([tighter()]);
    await after.call(QUESTIONS);
    await counted(after, 'newly-refused');
    expect(await differing(gateway)).toEqual([]);
  });

  it('does not check stored responses again', async () => {
    const gateway = await gatewayWith([tighter()], { cache: { enabled: true } });
    await gateway.call(QUESTIONS);
    const first = await counted(gateway, 'newly-refused');
    expect((await gateway.call(QUESTIONS)).headers['cache-status']).toContain('hit');
    await gateway.call(`${QUESTIONS}?page=2`);
    expect(await counted(gateway, 'newly-refused', 'listQuestions', first + 1)).toBe(2 * first);
  });

  it('reports its configuration errors under its name together with those of the contract', async () => {
    const file = overlayFile({ target: '$.components.schemas.Author', remove: true });
    const other = overlayFile({ target: '$.info.title', remove: true });
    await expect(
      startTestGateway({
        upstream: reference,
        config: { contract: { overlays: [other], candidate: { overlays: [file] } } },
      }),
    ).rejects.toMatchObject({
      faults: expect.arrayContaining([
        expect.objectContaining({
          source: file,
          message: expect.stringMatching(/^the shadow contract: there is no component/) as string,
        }),
        expect.objectContaining({ source: other, message: expect.stringMatching(/^selects a string/) as string }),
      ]) as unknown,
    });
  });

  it('changes with a reload of its files, which names it', async () => {
    const file = overlayFile({ target: '$.info', update: { title: 'Another' } });
    const gateway = await gatewayWith([file]);
    await gateway.call(QUESTIONS);
    copyFileSync(tighter(), file);
    const config = { cache: { enabled: false }, contract: { candidate: { overlays: [file] } } };
    expect(await gateway.reload({ config })).toMatchObject({ outcome: 'applied', changed: ['the shadow contract'] });
    await gateway.call(QUESTIONS);
    expect(await counted(gateway, 'newly-refused')).toBeGreaterThan(0);
    expect(await gateway.reload({ config: { cache: { enabled: false } } })).toMatchObject({
      changed: ['contract.candidate.overlays', 'the shadow contract'],
    });
    expect(gateway.gateway.services.features.messages.request).toBeUndefined();
  });

  it('does not exist unless it is configured', async () => {
    const gateway = await startTestGateway({ upstream: reference });
    expect(gateway.gateway.services.features.messages.request).toBeUndefined();
    expect(await gateway.metric('portico_candidate_dropped_total')).toBe(0);
  });
});
