import { exampleOf } from '../../builders/contract-examples.ts';
import { type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { eventually } from '../../builders/until.ts';

/** A page of questions, whose response states how many pages there are. */
export const QUESTIONS = '/services/v2/question.json?page=1';
/** A list that the upstream refuses to a caller whose password has changed. */
export const IDEAS = '/services/v2/idea.json';

/** Starts the upstream: it has questions, and refuses the ideas to everybody. */
export const startUpstream = (): Promise<FakeUpstream> =>
  startFakeUpstream(({ path }) => {
    if (path === '/services/v2/idea.json') return { status: 401, json: { error: 'Bad credentials.' } };
    return { json: exampleOf('listQuestions') };
  });

/** Starts a gateway with everything that gateways share. The instance has a fixed name. */
export const startMember = (upstream: FakeUpstream, url: string, instance: string): Promise<TestGateway> =>
  startTestGateway({
    upstream,
    config: {
      mode: 'strict',
      instance,
      redis: { url, connectTimeoutMs: 10_000, commandTimeoutMs: 10_000, maxUnsyncedSeconds: 600 },
      authentication: { failures: { limit: 2 } },
      rateLimits: [{ name: 'all', requests: 50, windowSeconds: 3600 }],
      cache: { enabled: true, freshSeconds: 3000, sampleShared: 0, earlyRefresh: 0 },
    },
  });

/** Sets an override, or purges pages, as an operator. */
export const operate = (gateway: TestGateway, path: string, body: object) =>
  gateway.admin(path, { method: 'POST', body });

/** Makes a gateway write one thing of each kind that gateways share. */
export async function shareEverything(gateway: TestGateway): Promise<void> {
  await gateway.call(QUESTIONS, { user: 'alice' });
  for (const password of ['wrong', 'wrong again']) await gateway.call(QUESTIONS, { user: 'bob', password });
  await gateway.call(IDEAS, { user: 'alice' });
  const override = { operation: 'listArticles', kind: 'disable', reason: 'an incident', forMinutes: 600 };
  await operate(gateway, '/overrides', override);
  await operate(gateway, '/cache/purge', { tags: ['ideas'] });
  // The audit trail is written in the background, and last.
  await eventually(async () => JSON.stringify((await gateway.admin('/overrides')).json).includes('listArticles'));
}
