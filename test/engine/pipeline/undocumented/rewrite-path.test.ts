import { describe, expect, it } from 'vitest';
import { UpstreamFailure } from '../../../../src/engine/model/upstream-failure.ts';
import type { Reply } from '../../../../src/engine/pipeline/reply.ts';
import {
  findAddresses,
  publicHeaders,
  publicLocation,
  rewritePath,
} from '../../../../src/engine/pipeline/undocumented/rewrite-path.ts';
import { compileLegacyAddresses } from '../../../../src/engine/upstream/legacy-addresses.ts';
import { arrivalWith, callerNamed, traceWith } from '../../../builders/exchange.ts';
import { drain, openBody, streamOf } from '../../../builders/streamed-body.ts';

const services = {
  legacy: compileLegacyAddresses({ origin: 'http://old.example', basePath: '' }, []),
  rewriteUrls: true,
  publicAddress: () => 'https://qa.example',
};

/**
 * Runs the stage on a body whose second half has not arrived yet. Returns the upstream's body, to which the test can
 * add the rest, and the body of the reply.
 */
async function replied(stage: typeof rewritePath) {
  const { body: sent, source } = openBody();
  const reply: Reply = { status: 200, headers: [['Content-Type', 'text/plain']], body: sent };
  const exchange = { arrival: arrivalWith(), principal: callerNamed('a'), trace: traceWith(), permission: undefined };
  const { body } = await stage(services)(() => reply)(exchange);
  sent.push(
    Buffer.from(`half of http://old.example/x, and ${'enough text behind it '.repeat(5)}for the rest to go on`),
  );
  return { sent, source, body: streamOf(body), trace: exchange.trace };
}

describe.each([
  ['rewritten', rewritePath],
  ['searched', findAddresses],
])('a body that is %s', (_way, stage) => {
  // A client that receives half of a body followed by a normal end mistakes that half for the whole body.
  it('is broken for its reader when it breaks', async () => {
    const { sent, body } = await replied(stage);
    sent.finish(new UpstreamFailure('truncated'));
    const { bytes, failure } = await drain(body);
    expect(bytes.toString()).toMatch(/^half of http/);
    expect(failure).toMatchObject({ kind: 'truncated' });
  });

  it('is broken for the upstream when its reader leaves', async () => {
    const { source, body } = await replied(stage);
    body.destroy();
    expect(source.aborted).toMatchObject({ kind: 'aborted' });
  });

  it('pauses the upstream while its reader is paused', async () => {
    const { sent, source, body } = await replied(stage);
    let length = 0;
    body.read({ part: (part) => (length += part.length) < 0, end: () => undefined });
    for (let count = 0; count < 5; count += 1) sent.push(Buffer.alloc(50_000));
    expect([source.isPaused, length < 60_000]).toEqual([true, true]);
    sent.finish();
    for (let count = 0; count < 20; count += 1) body.resume();
    expect(length).toBeGreaterThan(250_000);
  });
});

const PUBLIC = 'https://new.example/p';
const prefixed = compileLegacyAddresses({ origin: 'http://10.0.0.5:8080', basePath: '/qa' }, [
  'http://www.old.example',
]);
const rooted = compileLegacyAddresses({ origin: 'http://10.0.0.5:8080', basePath: '' }, []);

describe('`Location` (docs/rules.md §11)', () => {
  it.each([
    ['http://10.0.0.5:8080/qa/services/v2/node/1.json?a=b#c', `${PUBLIC}/services/v2/node/1.json?a=b#c`],
    ['https://www.old.example/qa/x', `${PUBLIC}/x`],
    ['//www.old.example/qa/x', `${PUBLIC}/x`],
    ['/qa/x', '/p/x'],
    ['/qa', '/p'],
    ['/qa?a', '/p?a'],
    ['/qax', '/qax'],
    ['/elsewhere', '/elsewhere'],
    ['x.json', 'x.json'],
    ['https://elsewhere.example/qa/x', 'https://elsewhere.example/qa/x'],
    ['//elsewhere.example/qa/x', '//elsewhere.example/qa/x'],
    ['http://www.old.example/login', 'http://www.old.example/login'],
    [
      'https://elsewhere.example/?next=http://www.old.example/qa/x',
      `https://elsewhere.example/?next=http://www.old.example/qa/x`,
    ],
  ])('%s becomes %s', (value, expected) => {
    expect(publicLocation(value, prefixed, PUBLIC)).toBe(expected);
  });

  it('is a path under the public base path if the upstream has none', () => {
    expect(publicLocation('/x', rooted, PUBLIC)).toBe('/p/x');
    expect(publicLocation('/x', rooted, 'https://new.example')).toBe('/x');
    expect(publicLocation('/x', rooted, 'https://no[t a host/p/')).toBe('/p/x');
    expect(publicLocation('//evil.example/x', rooted, PUBLIC)).toBe('//evil.example/x');
  });
});

describe('other response headers', () => {
  it('with addresses become public, and the rest is unchanged', () => {
    const fields = [
      ['Content-Location', '/qa/x'],
      ['Refresh', '5; url=http://www.old.example/qa/x'],
      ['Link', '<http://www.old.example/qa/x>; rel=next, <http://www.old.example/qa/y>; rel=prev'],
      ['X-Other', 'http://www.old.example/qa/x'],
    ] as const;
    expect(publicHeaders(fields, prefixed, PUBLIC)).toEqual([
      ['Content-Location', '/p/x'],
      ['Refresh', `5; url=${PUBLIC}/x`],
      ['Link', `<${PUBLIC}/x>; rel=next, <${PUBLIC}/y>; rel=prev`],
      ['X-Other', 'http://www.old.example/qa/x'],
    ]);
  });

  it.each([
    ['sid=a=b; Path=/qa; HttpOnly; Secure', 'sid=a=b; Path=/p; HttpOnly; Secure'],
    ['sid=1; path=/qa/x; Domain=.old.example; SameSite=Lax', 'sid=1; path=/p/x; SameSite=Lax'],
    ['sid=1; Domain=www.old.example', 'sid=1'],
    ['sid=1; Domain=other.example; Path=/', 'sid=1; Domain=other.example; Path=/'],
    [
      'sid=Domain=www.old.example; Expires=Thu, 01 Jan 2026 00:00:00 GMT',
      'sid=Domain=www.old.example; Expires=Thu, 01 Jan 2026 00:00:00 GMT',
    ],
    ['', ''],
  ])('turn the cookie %j into one for the gateway: %j', (cookie, expected) => {
    expect(publicHeaders([['Set-Cookie', cookie]], prefixed, PUBLIC)).toEqual([['Set-Cookie', expected]]);
  });
});
