import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

// The attack: a servlet container, or a proxy in front of it, reads another spelling of a path as the path of a protected
// operation. The gateway does not recognize the spelling, takes it for an undocumented path, and forwards it without
// checking the permission. `guest` may not list actions.
const ATTACKS: readonly [why: string, target: string][] = [
  ['a path parameter', '/services/v2/action.json;x=y'],
  ['a path parameter in the middle', '/services/v2;x=y/action.json'],
  ['an encoded path parameter', '/services/v2/action.json%3bx'],
  ['an encoded dot', '/services/v2/action%2ejson'],
  ['an encoded letter', '/services/v2/%61ction.json'],
  ['an encoded letter as %u', '/services/v2/%u0061ction.json'],
  ['an empty segment', '/services/v2//action.json'],
  ['a final slash', '/services/v2/action.json/'],
  ['another case', '/services/v2/Action.JSON'],
  ['a final dot', '/services/v2/action.json.'],
  ['an encoded final space', '/services/v2/action.json%20'],
  ['an encoded final tab', '/services/v2/action.json%09'],
  ['an encoded final line break', '/services/v2/action.json%0d%0a'],
  ['an encoded final DEL', '/services/v2/action.json%7f'],
  ['an invisible character', '/services/v2/act%e2%80%8bion.json'],
  ['a no-break space', '/services/v2/action.json%c2%a0'],
  ['a twice-encoded letter', '/services/v2/%2561ction.json'],
  ['a letter encoded three times', '/services/v2/%252561ction.json'],
  ['a twice-encoded slash', '/services/v2%252faction.json'],
  ['a twice-encoded backslash', '/services/v2%255caction.json'],
  ['a twice-encoded dot segment', '/services/v2/x/%252e%252e/action.json'],
  ['a twice-encoded NUL', '/services/v2/action.json%2500.css'],
  ['an encoded question mark', '/services/v2/action.json%3fx'],
  ['an encoded number sign', '/services/v2/action.json%23x'],
  ['a full-width letter', '/services/v2/%ef%bd%81ction.json'],
  ['a full-width full stop', '/services/v2/action%ef%bc%8ejson'],
  ['a full-width slash', '/services/v2/x%ef%bc%8f..%ef%bc%8faction.json'],
  ['a full-width percent sign', '/services/v2/%ef%bc%8561ction.json'],
  ['a division slash', '/services/v2/%e2%88%95action.json'],
  ['an overlong slash', '/services/v2/%c0%afaction.json'],
  ['an overlong dot', '/services/v2/action%c0%aejson'],
  ['more encodings than a server would decode', `/services/v2/%${'25'.repeat(20)}61ction.json`],
];

/** Spellings that leave the base path after they are decoded twice. */
const ESCAPES = [
  '/services/v2/%252e%252e/admin',
  '/services/v2/%ef%bc%8e%ef%bc%8e/admin',
  '/services/v2/%c0%ae%c0%ae/x',
];

describe.each(['staging', 'strict'])('another spelling of a protected path in %s', (mode) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeUpstream(exampleResponse);
    gateway = await startTestGateway({ upstream: fake, config: { mode } });
  });
  beforeEach(() => {
    fake.requests.length = 0;
  });

  it.each(ATTACKS)('is not forwarded: %s', async (_why, target) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const { status } = await gateway.call(target, { user: 'guest', method });
      expect(status, method).toBe(404);
    }
    expect(fake.requests).toEqual([]);
  });

  it.each(ESCAPES)('does not leave the base path: %s', async (target) => {
    expectError(await gateway.call(target), 404, 'not_in_contract');
    expect(fake.requests).toEqual([]);
  });

  it('does not affect other paths with encoded characters', async () => {
    const target = '/services/v2/tag/caf%C3%A9%20noir%3F.json';
    expect((await gateway.call(target)).status).toBe(404);
    expect(fake.requests).toHaveLength(mode === 'staging' ? 1 : 0);
  });
});

// A backslash is not allowed in a target (RFC 3986). Servers that accept it treat it as a slash, like an encoded one.
describe.each(['observe', 'staging', 'strict'])('a backslash in a path in %s', (mode) => {
  it.each(['/services/v2\\action.json', '/services/v2/x\\..\\action.json', '/services/v2/action.json\\'])(
    'is refused: %s',
    async (target) => {
      const fake = await startFakeUpstream(exampleResponse);
      const gateway = await startTestGateway({ upstream: fake, config: { mode } });
      expect((await gateway.call(target)).status).toBe(400);
      expect(fake.requests).toEqual([]);
    },
  );
});

it('an entry with encoded characters still allows the paths that it describes', async () => {
  const fake = await startFakeUpstream(exampleResponse);
  const allow = [{ method: 'GET', path: '/services/v2/caf%C3%A9/{id}.json' }];
  const gateway = await startTestGateway({ upstream: fake, config: { undocumented: { allow } } });
  await gateway.call('/services/v2/caf%C3%A9/7.json');
  expect(fake.requests.map(({ target }) => target)).toEqual(['/services/v2/caf%C3%A9/7.json']);
});
