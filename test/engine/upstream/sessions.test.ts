import { beforeEach, describe, expect, it } from 'vitest';
import { createSessions, type ExchangeSession, type Sessions } from '../../../src/engine/upstream/sessions.ts';
import { createTestClock, type TestClock } from '../../builders/test-clock.ts';

const ORIGIN = 'http://upstream.example';
const ALICE = 'Basic YWxpY2U6eA==';
const BOB = 'Basic Ym9iOng=';
const PATH = '/qa/services/v2/question.json?page=2';

let clock: TestClock;
let sessions: Sessions;

beforeEach(() => {
  clock = createTestClock();
  sessions = createSessions(['JSESSIONID', 'SESSION'], clock);
});

/** Returns the `Cookie` header that a request would have. */
function sent(session: ExchangeSession, path = PATH, origin = ORIGIN, headers: readonly string[] = []) {
  const all = session.attach(headers, origin, path);
  const at = all.indexOf('Cookie');
  return at < 0 ? undefined : all[at + 1];
}

/** Sends a request as Alice, or as somebody else, whose response sets the cookies. */
function given(cookies: readonly string[], { by = ALICE, origin = ORIGIN, path = PATH } = {}) {
  const session = sessions.of(by);
  session.attach([], origin, path);
  return session.receive(cookies.map((cookie) => ['Set-Cookie', cookie] as const));
}

describe('a session', () => {
  it('is sent with every later request of the same credential, and of no other', () => {
    given(['JSESSIONID=abc; Path=/qa; HttpOnly']);
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID=abc');
    expect(sent(sessions.of(BOB))).toBeUndefined();
    expect(sent(sessions.of('Basic YWxpY2U6eQ=='))).toBeUndefined();
    expect(sent(sessions.of(undefined))).toBeUndefined();
  });

  it('is not kept without a credential, but its cookie is removed', () => {
    const session = sessions.of(undefined);
    session.attach([], ORIGIN, PATH);
    expect(session.receive([['Set-Cookie', 'JSESSIONID=abc']])).toEqual([]);
    expect(sent(sessions.of(undefined))).toBeUndefined();
  });

  it('is removed from the response, unlike other cookies', () => {
    expect(given(['JSESSIONID=abc', 'theme=dark', 'jsessionid=other', 'SESSION=x; Path=/'])).toEqual([
      ['Set-Cookie', 'theme=dark'],
      ['Set-Cookie', 'jsessionid=other'],
    ]);
  });

  it('is replaced when the upstream begins a new one', () => {
    given(['JSESSIONID=old; Path=/']);
    given(['JSESSIONID=new; Path=/']);
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID=new');
  });

  it.each([
    'Max-Age=0',
    'Max-Age=-1',
    'Expires=Thu, 01 Jan 1970 00:00:00 GMT',
    'Max-Age=0; Expires=Fri, 01 Jan 2100 00:00:00 GMT',
  ])('ends with %s', (attribute) => {
    given(['JSESSIONID=abc; Path=/']);
    given([`JSESSIONID=; Path=/; ${attribute}`]);
    expect(sent(sessions.of(ALICE))).toBeUndefined();
  });

  it('ends when its cookie expires, and Max-Age takes precedence', () => {
    given(['JSESSIONID=abc; Path=/; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT']);
    clock.advance(59);
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID=abc');
    clock.advance(2);
    expect(sent(sessions.of(ALICE))).toBeUndefined();
  });

  it('ends after half an hour without a request', () => {
    given(['JSESSIONID=abc; Path=/']);
    clock.advance(1700);
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID=abc');
    clock.advance(1700);
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID=abc');
    clock.advance(1801);
    expect(sent(sessions.of(ALICE))).toBeUndefined();
  });

  it('is dropped with the credential, for every address', () => {
    given(['JSESSIONID=abc; Path=/']);
    given(['JSESSIONID=two; Path=/'], { origin: 'http://two.example' });
    given(['JSESSIONID=bob; Path=/'], { by: BOB });
    sessions.drop(ALICE);
    expect(sent(sessions.of(ALICE))).toBeUndefined();
    expect(sent(sessions.of(ALICE), PATH, 'http://two.example')).toBeUndefined();
    expect(sent(sessions.of(BOB))).toBe('JSESSIONID=bob');
  });

  it('belongs to one address of the upstream', () => {
    given(['JSESSIONID=one; Path=/']);
    given(['JSESSIONID=two; Path=/'], { origin: 'http://two.example' });
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID=one');
    expect(sent(sessions.of(ALICE), PATH, 'http://two.example')).toBe('JSESSIONID=two');
    expect(sent(sessions.of(ALICE), PATH, 'https://upstream.example')).toBeUndefined();
  });

  it.each([
    ['/qa', '/qa/services/v2/a.json', true],
    ['/qa/', '/qa/services/v2/a.json', true],
    ['/', '/qa/a.json', true],
    ['/qa', '/qa', true],
    ['/qa', '/qa?x=/', true],
    ['/qa', '/qalm/a.json', false],
    ['/qa/admin', '/qa/services/v2/a.json', false],
  ])('with the path %s is sent to %s: %s', (cookiePath, path, isSent) => {
    given([`JSESSIONID=abc; Path=${cookiePath}`]);
    expect(sent(sessions.of(ALICE), path)).toBe(isSent ? 'JSESSIONID=abc' : undefined);
  });

  it('without a path applies to the folder of the request that began it', () => {
    given(['JSESSIONID=abc'], { path: '/services/v2/question.json?a=/b' });
    expect(sent(sessions.of(ALICE), '/services/v2/node/5.json')).toBe('JSESSIONID=abc');
    expect(sent(sessions.of(ALICE), '/services/v1/node.json')).toBeUndefined();
  });

  it('sends the cookie with the longer path first', () => {
    given(['SESSION=a; Path=/', 'JSESSIONID=b; Path=/qa']);
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID=b; SESSION=a');
  });

  it('ignores Domain and Secure, because the cookie returns only to where it came from', () => {
    given(['JSESSIONID=abc; Path=/; Domain=community.example; Secure']);
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID=abc');
  });

  it("replaces the client's session cookies and keeps its other cookies", () => {
    const cookies = ['X-A', '1', 'cookie', 'JSESSIONID=stolen; theme=dark', 'Cookie', 'SESSION=x'];
    expect(sessions.of(ALICE).attach(cookies, ORIGIN, PATH)).toEqual(['X-A', '1', 'Cookie', 'theme=dark']);
    given(['JSESSIONID=abc; Path=/']);
    expect(sessions.of(ALICE).attach(cookies, ORIGIN, PATH)).toEqual([
      'X-A',
      '1',
      'Cookie',
      'theme=dark; JSESSIONID=abc',
    ]);
  });

  // Otherwise, every later request with the credential would be refused by the HTTP client.
  it.each(['a\u0001b', 'caf\u00e9', 'x'.repeat(5000)])('is not kept if its cookie cannot be sent (%#)', (value) => {
    expect(given([`JSESSIONID=${value}; Path=/`])).toEqual([]);
    expect(sent(sessions.of(ALICE))).toBeUndefined();
  });

  it('keeps the value as the upstream wrote it', () => {
    given(['JSESSIONID="a%20b=c!node1"; Path=/']);
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID="a%20b=c!node1"');
  });

  it('has a limited number of cookies', () => {
    given(Array.from({ length: 50 }, (_, index) => `SESSION=s${index}; Path=/${'a/'.repeat(index)}`));
    expect(sent(sessions.of(ALICE), `/${'a/'.repeat(50)}`)?.split('; ')).toHaveLength(8);
  });

  it('of the caller who has been away longest is forgotten when there are too many', () => {
    for (let index = 0; index <= 10_000; index += 1) given([`JSESSIONID=s${index}; Path=/`], { by: `Basic ${index}` });
    expect(sent(sessions.of('Basic 0'))).toBeUndefined();
    expect(sent(sessions.of('Basic 10000'))).toBe('JSESSIONID=s10000');
  });

  it('recognizes its cookies in a page', () => {
    given(['JSESSIONID=0123456789; Path=/', 'SESSION=short; Path=/']);
    const session = sessions.of(ALICE);
    expect(session.occursIn('x;jsessionid=0123456789')).toBe(false);
    session.attach([], ORIGIN, PATH);
    expect(session.occursIn(Buffer.from('x;jsessionid=0123456789'))).toBe(true);
    expect(session.occursIn('short')).toBe(false);
    session.receive([['Set-Cookie', 'JSESSIONID=9876543210']]);
    expect(session.occursIn('x;jsessionid=9876543210')).toBe(true);
  });
});

describe('a probe of a credential', () => {
  it('sends no session, because a session can outlive its credential', () => {
    given(['JSESSIONID=abc; Path=/']);
    expect(sent(sessions.ofProbe(ALICE))).toBeUndefined();
  });

  it('begins a session but never replaces one', () => {
    const probe = (cookie: string) => {
      const session = sessions.ofProbe(ALICE);
      session.attach([], ORIGIN, PATH);
      session.receive([['Set-Cookie', cookie]]);
    };
    probe('JSESSIONID=first; Path=/');
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID=first');
    probe('JSESSIONID=second; Path=/');
    expect(sent(sessions.of(ALICE))).toBe('JSESSIONID=first');
  });
});

it('without names, cookies are left alone', () => {
  const none = createSessions([], clock).of(ALICE);
  expect(none.attach(['Cookie', 'JSESSIONID=a'], ORIGIN, PATH)).toEqual(['Cookie', 'JSESSIONID=a']);
  expect(none.receive([['Set-Cookie', 'JSESSIONID=abc']])).toEqual([['Set-Cookie', 'JSESSIONID=abc']]);
});
