import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { addCorsHeaders } from '../../../src/features/cors/add-cors-headers.ts';
import type { CorsOptions } from '../../../src/features/cors/options.ts';

const APP = 'https://app.example.org';
const OTHER = 'https://other.example.org';
const OPTIONS: CorsOptions = {
  origins: [APP, OTHER],
  headers: ['Authorization', 'X-Own'],
  exposeHeaders: ['Age', 'ETag'],
  credentials: false,
  maxAgeSeconds: 600,
};
const plain = ['Content-Type', 'text/plain'];
const PREFLIGHT = { origin: APP, 'access-control-request-method': 'GET' };

/** What middleware made of a request. */
interface Outcome {
  /** Whether the request went on to the gateway. */
  passed: boolean;
  /** The response to a preflight request. */
  response?: readonly [status: number, headers: readonly string[]];
  /** The heads that the gateway has written, each with its status. */
  readonly heads: unknown[][];
}

/**
 * Runs the middleware for a request to a path with the documented methods GET and HEAD, and writes the head of the
 * gateway's response, if there is one.
 */
function run(
  options: Partial<CorsOptions>,
  { method = 'GET', ...headers }: Readonly<Record<string, string>>,
  {
    write = (res) => res.writeHead(200, plain as never),
    isDocumented = true,
  }: { readonly write?: (res: ServerResponse) => void; readonly isDocumented?: boolean } = {},
): Outcome {
  const req = Object.assign(new IncomingMessage(new Socket()), { method, headers });
  const heads: unknown[][] = [];
  const outcome: Outcome = { passed: false, heads };
  const res = new ServerResponse(req);
  res.writeHead = (...head: unknown[]) => {
    heads.push(head);
    return res;
  };
  const gateway = {
    documentedMethods: () => (isDocumented ? ['GET', 'HEAD'] : undefined),
    respond: (_req: unknown, _res: unknown, status: number, sent: readonly string[]) => {
      outcome.response = [status, sent];
    },
    take: () => undefined,
  };
  addCorsHeaders({ ...OPTIONS, ...options })(req, res, () => (outcome.passed = true), gateway);
  if (outcome.passed) write(res);
  return outcome;
}

const exposed = ['Access-Control-Expose-Headers', 'Age, ETag'];

describe('the head of a response', () => {
  it.each([APP, OTHER])('grants access to the listed origin %s', (origin) => {
    const { passed, heads } = run({}, { origin });
    expect([passed, heads]).toEqual([
      true,
      [[200, [...plain, 'Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...exposed]]],
    ]);
  });

  it.each([`${APP}.evil.example`, 'https://APP.example.org', `${APP}, ${OTHER}`, 'null', '*', ''])(
    'grants no access to the origin %j, but varies by it',
    (origin) => {
      expect(run({}, { origin }).heads).toEqual([[200, [...plain, 'Vary', 'Origin']]]);
    },
  );

  it('varies by origin even without one', () => {
    expect(run({}, {}).heads).toEqual([[200, [...plain, 'Vary', 'Origin']]]);
  });

  it('grants access to every origin without varying, if all are allowed', () => {
    const { heads } = run({ origins: ['*'] }, { origin: 'https://evil.example' });
    expect(heads).toEqual([[200, [...plain, 'Access-Control-Allow-Origin', '*', ...exposed]]]);
    expect(run({ origins: ['*'] }, {}).heads).toEqual([[200, plain]]);
  });

  it('allows credentials and exposes headers only if configured', () => {
    const { heads } = run({ credentials: true, exposeHeaders: [] }, { origin: APP });
    const granted = ['Access-Control-Allow-Origin', APP, 'Vary', 'Origin', 'Access-Control-Allow-Credentials', 'true'];
    expect(heads).toEqual([[200, [...plain, ...granted]]]);
  });

  it("loses the upstream's CORS headers, in any case, and no others", () => {
    const upstream = ['Access-Control-Allow-Origin', '*', 'access-control-max-age', '9', 'X-Access-Control-Y', 'z'];
    const { heads } = run(
      {},
      { origin: 'null' },
      { write: (res) => res.writeHead(200, [...upstream, ...plain] as never) },
    );
    expect(heads).toEqual([[200, ['X-Access-Control-Y', 'z', ...plain, 'Vary', 'Origin']]]);
  });

  it.each<readonly [string, (res: ServerResponse) => void, readonly unknown[]]>([
    ['a reason', (res) => res.writeHead(404, 'Gone away', plain as never), [404, 'Gone away', [...plain]]],
    ['a reason alone', (res) => res.writeHead(404, 'Gone away'), [404, 'Gone away', []]],
    ['a status alone', (res) => res.writeHead(404), [404, []]],
    ['no list of headers', (res) => res.writeHead(404, undefined as unknown as OutgoingHttpHeaders), [404, []]],
  ])('has the same status and reason with %s', (_what, write, [...given]) => {
    const headers = given.pop() as string[];
    expect(run({}, {}, { write }).heads).toEqual([[...given, [...headers, 'Vary', 'Origin']]]);
  });
});

describe('a preflight request', () => {
  const allowed = (methods: string) => [
    'Access-Control-Allow-Origin',
    APP,
    'Vary',
    'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    'Access-Control-Allow-Methods',
    methods,
    'Access-Control-Allow-Headers',
    'Authorization, X-Own',
    'Access-Control-Max-Age',
    '600',
  ];

  it('gets a response with the documented methods that are configured, and does not go on', () => {
    const preflight = { method: 'OPTIONS', ...PREFLIGHT };
    expect(run({}, preflight)).toEqual({ passed: false, heads: [], response: [204, allowed('GET, HEAD')] });
    expect(run({ methods: ['HEAD', 'PUT'] }, preflight).response).toEqual([204, allowed('HEAD')]);
  });

  it('from an origin that is not listed goes on, and its response is left as it is', () => {
    const { passed, heads, response } = run({}, { method: 'OPTIONS', ...PREFLIGHT, origin: 'null' });
    expect([passed, heads, response]).toEqual([true, [[200, plain]], undefined]);
  });

  it('for a path that is not documented goes on, and its response is left as it is', () => {
    const { passed, heads, response } = run({}, { method: 'OPTIONS', ...PREFLIGHT }, { isDocumented: false });
    expect([passed, heads, response]).toEqual([true, [[200, plain]], undefined]);
  });

  it.each([
    ['another method', { ...PREFLIGHT, method: 'GET' }],
    ['no requested method', { method: 'OPTIONS', origin: APP }],
    ['no origin', { method: 'OPTIONS', 'access-control-request-method': 'GET' }],
  ])('is none with %s', (_what, request) => {
    const { passed, response, heads } = run({}, request);
    expect([passed, response]).toEqual([true, undefined]);
    expect(JSON.stringify(heads)).toContain('Vary');
  });
});
