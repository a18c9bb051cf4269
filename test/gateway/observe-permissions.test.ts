import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorsMessage, errorText, PERMISSION_HTML } from '../builders/error-shapes.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const QUESTIONS = '/services/v2/question.json';
const ACTIONS = '/services/v2/action.json';

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
});
beforeEach(async () => {
  fake.requests.length = 0;
  fake.handler = exampleResponse;
  gateway = await startTestGateway({ upstream: fake, real: true, keepAccounts: true });
});

/** Sends a request. Returns the permission verdict and the violations that the `permissions` check found. */
async function judged(target: string, user: string) {
  const reply = await gateway.call(target, { user });
  const line = await gateway.lineOf(String(reply.headers['x-request-id']));
  const { records: ledger } = gateway.gateway.services;
  await ledger.flush();
  const { entries } = await ledger.snapshot();
  const found = entries.filter(({ check }) => check === 'permissions').map(({ keyword }) => keyword);
  const { permissions } = line['checks'] as { permissions?: string };
  return { outcome: permissions ?? 'passed', found: found.toSorted() };
}

describe('permissions in observe mode', () => {
  it('are those of the named caller once the response has proved the credential, without a further request', async () => {
    expect(await judged(QUESTIONS, 'alice')).toEqual({ outcome: 'passed', found: [] });
    expect(fake.requests.map(({ path }) => path)).toEqual([QUESTIONS]);
  });

  it('differ from the upstream if the roles file denies what the upstream allows', async () => {
    expect(await judged(ACTIONS, 'alice')).toEqual({
      outcome: 'reported',
      found: ['permission-denied', 'upstream-allowed'],
    });
    expect(fake.requests).toHaveLength(1);
  });

  it('differ from the upstream if the upstream denies what the roles file allows', async () => {
    fake.handler = () => errorsMessage(403, PERMISSION_HTML);
    expect(await judged(ACTIONS, 'admin')).toEqual({ outcome: 'passed', found: ['upstream-denied'] });
  });

  it('agree with the upstream if both deny the request', async () => {
    fake.handler = () => errorsMessage(403, PERMISSION_HTML);
    expect(await judged(ACTIONS, 'alice')).toEqual({ outcome: 'reported', found: ['permission-denied'] });
  });

  // Anyone can claim any name, so a wrong password must not make the roles file look incorrect.
  it('are not judged if the upstream refuses the credential or does not respond', async () => {
    fake.handler = () => errorText(401, 'Bad credentials');
    expect(await judged(ACTIONS, 'alice')).toEqual({ outcome: 'skipped', found: [] });
    fake.handler = (_, response) => void response.destroy();
    expect(await judged(ACTIONS, 'alice')).toEqual({ outcome: 'skipped', found: [] });
  });
});
