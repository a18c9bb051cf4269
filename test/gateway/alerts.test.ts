import { expect, it } from 'vitest';
import type { Call } from '../builders/call.ts';
import { errorText, PERMISSION_HTML } from '../builders/error-shapes.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeHandler, startFakeUpstream } from '../builders/fake-upstream.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';
import { alertsBetween } from '../deploy/replay-scrapes.ts';

const LIST = '/services/v2/question.json';

/** Returns a gateway's scrapes from before and after an event. */
async function scrapesAround(
  handler: FakeHandler,
  happens: (call: (target: string, call?: Call) => Promise<void>) => Promise<void>,
  options: Partial<TestGatewayOptions> = {},
): Promise<[string, string]> {
  const upstream = await startFakeUpstream(handler);
  const gateway = await startTestGateway({ upstream, ...options });
  const before = await scrape(gateway);
  await happens(async (target, call) => {
    const reply = await gateway.call(target, call);
    // The request is counted before its log line is written.
    await gateway.lineOf(String(reply.headers['x-request-id']));
  });
  return [before, await scrape(gateway)];
}

const scrape = async (gateway: TestGateway) => (await gateway.admin('/metrics')).text;

const brokenType: FakeHandler = (request) => {
  const { json, ...usual } = exampleResponse(request);
  return { ...usual, json: request.path === LIST ? { ...(json as object), totalCount: 'many' } : json };
};

needsProgram('promtool', 'alerts on what a gateway really counts', (promtool) => {
  // The tests spend most of their time waiting for promtool, so they run at the same time.
  const alerts = async (scrapes: Promise<[string, string]>) => alertsBetween(promtool, ...(await scrapes));

  it.concurrent('are silent for pages from the upstream and from memory', async () => {
    const fired = await alerts(
      scrapesAround(exampleResponse, async (call) => {
        for (const sort of ['newest', 'active', 'voted']) await call(`${LIST}?sort=${sort}`);
        for (let again = 0; again < 5; again += 1) await call(LIST);
        await call('/services/v2/node/118/comment.json');
      }),
    );
    expect(fired).toEqual([]);
  });

  it.concurrent("report denied callers and refused parameters only to the contract's owner", async () => {
    const fired = await alerts(
      scrapesAround(exampleResponse, async (call) => {
        await call('/services/v2/group/7/user.json', { user: 'alice' });
        await call(`${LIST}?page=x`);
      }),
    );
    expect(fired).toEqual(['PorticoNewRequestViolations']);
  });

  it.concurrent('report that responses break the contract', async () => {
    const fired = await alerts(
      scrapesAround(brokenType, async (call) => {
        for (const sort of ['newest', 'active', 'voted']) await call(`${LIST}?sort=${sort}`);
      }),
    );
    expect(fired).toEqual(['PorticoAnswersBreakContract', 'PorticoNewViolations', 'PorticoWouldRefuse']);
  });

  it.concurrent('report that the upstream breaks every connection and that calls to it are paused', async () => {
    const fired = await alerts(
      scrapesAround(
        (_request, response) => void response.destroy(),
        async (call) => {
          for (let page = 1; page < 20; page += 1) await call(`${LIST}?page=${page}`);
        },
      ),
    );
    expect(fired).toEqual([
      'PorticoErrorBudgetBurnsFast',
      'PorticoErrorBudgetBurnsSlowly',
      'PorticoUpstreamFailing',
      'PorticoUpstreamPaused',
    ]);
  });

  it.concurrent('report that the roles file and the upstream disagree', async () => {
    const fired = await alerts(
      scrapesAround(
        () => errorText(403, PERMISSION_HTML),
        (call) => call(LIST, { user: 'alice' }),
      ),
    );
    expect(fired).toContain('PorticoPermissionMismatch');
  });

  it.concurrent('report password guessing', async () => {
    const fired = await alerts(
      scrapesAround(exampleResponse, async (call) => {
        for (let attempt = 0; attempt < 90; attempt += 1)
          await call(LIST, { user: 'alice', password: `guess${attempt}` });
      }),
    );
    expect(fired).toContain('PorticoCredentialGuessing');
  });
});
