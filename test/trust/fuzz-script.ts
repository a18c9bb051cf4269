import * as fc from 'fast-check';
import { anyQuery } from '../builders/any-text.ts';
import { EXAMPLE_IDS, OPERATIONS } from '../builders/operations.ts';

/*
 * The fuzz test's random requests and responses. A script is plain JSON, so that it can be stored in the corpus and
 * replayed. Text is Latin-1, with one character per byte.
 */

/** How the upstream handles a request. In strings, `$CALLER` stands for the mark of the caller who sent the request. */
export interface UpstreamAct {
  /**
   * `respond`: send a response. `reset`: break the connection before the response. `cut`: break the connection in the
   * middle of the response.
   */
  readonly kind: 'respond' | 'reset' | 'cut';
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body. `$EXAMPLE`, followed by an operation's id, stands for that operation's documented response. */
  readonly body: string;
}

/** One request, and the upstream's response if the request reaches the upstream. */
export interface FuzzStep {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | null;
  /** The caller's name, or null for a request without a credential. By default, the password equals the name. */
  readonly user: string | null;
  readonly password: string | null;
  readonly upstream: UpstreamAct;
  /** The time that passes before the request, in seconds. */
  readonly wait: number;
}

/** A sequence of requests to one gateway. */
export interface FuzzScript {
  readonly mode: 'strict' | 'staging' | 'observe';
  readonly steps: readonly FuzzStep[];
}

/** A password that no account has. It must never appear in any output. */
export const WRONG_PASSWORD = 'sEcReT-gUeSs-7Qx!';

/** The most common values come first, so that counterexamples shrink toward them. */
const { constantFrom, oneof, tuple, array, record, constant } = fc;
const METHODS = ['GET', 'POST', 'PUT', 'HEAD', 'DELETE', 'PATCH', 'OPTIONS', 'PURGE', 'TRACE', 'PROPFIND'];

const ODD_CHARACTERS = '%\\;:@&=+$,?!~*\'()[]{}|^`"<> .\u00e9\u00ff-_0aZ'.split('');
const ODD_PIECES = [
  '%00',
  '%2e',
  '%2F',
  '%5c',
  '%0d%0a',
  '%zz',
  '..',
  '//',
  ';jsessionid=1',
  '.json',
  '.css',
  '%25',
  '%C0%AE',
  '$CALLER',
];
const ODD_VALUES = [
  '',
  '0',
  '1',
  '-1',
  '99999999999',
  '1e3',
  'true',
  'abc',
  '__proto__',
  'constructor',
  '$CALLER',
  'a'.repeat(300),
];
const PARAMETERS = [
  'page',
  'pageSize',
  'sort',
  'spaceId',
  'q',
  'topics',
  'include',
  'exclude',
  'includeOnly',
  'details',
  'wrap',
  'v1',
  'active',
  'type',
  'x',
  '__proto__',
  'callback',
  '_method',
];

const query = oneof(
  { weight: 3, arbitrary: constant('') },
  {
    weight: 4,
    arbitrary: array(tuple(constantFrom(...PARAMETERS), constantFrom(...ODD_VALUES, 'id', 'id,author.id', '2', '15')), {
      minLength: 1,
      maxLength: 4,
    }).map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`),
  },
  { weight: 1, arbitrary: anyQuery.map((text) => `?${text.slice(0, 300)}`) },
);

const documented = tuple(constantFrom(...OPERATIONS), query).map(([operation, text]) => ({
  method: operation.method as string,
  target: operation.target(EXAMPLE_IDS) + text,
  operation: operation.id,
  body: operation.body === undefined ? null : JSON.stringify(operation.body),
}));

/** Generates targets with a few characters replaced, inserted or removed. */
const mutated = (target: string) =>
  array(tuple(fc.nat(), fc.nat(2), constantFrom(...ODD_CHARACTERS, ...ODD_PIECES)), { minLength: 1, maxLength: 3 }).map(
    (changes) =>
      changes.reduce((text, [position, removed, piece]) => {
        const at = 1 + (position % Math.max(1, text.length));
        return text.slice(0, at) + piece + text.slice(at + removed);
      }, target),
  );

const elsewhere = constantFrom(
  '/',
  '/favicon.ico',
  '/services/v2/',
  '/services/v2/space.json',
  '/services/v2/node/118.json',
  '/services/v2/question.json/',
  '/services/v2/Question.json',
  '/services/v2/question.json;a=b',
  '/services/v2/question.css',
  '/services/v2/question.json/x.css',
  '/services/v2//question.json',
  '/%73ervices/v2/question.json',
  '/admin',
  '/metrics',
  '/livez',
  'http://x/services/v2/question.json',
  '*',
);

const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ['Accept', ['*/*', 'application/problem+json', 'text/html', 'a/b;q=2,,;', '']],
  ['Accept-Encoding', ['gzip', 'br, gzip;q=0', 'identity;q=0, *;q=0', ',,,', 'zstd']],
  ['Cache-Control', ['no-cache', 'no-store', 'max-age=0', 'only-if-cached']],
  ['Connection', ['keep-alive', 'Authorization, Host', 'close']],
  ['Content-Encoding', ['gzip', 'identity', 'x']],
  [
    'Content-Type',
    ['application/json', 'text/plain', 'application/json; charset=utf-16', 'multipart/form-data; boundary=x', ''],
  ],
  ['Cookie', ['SESSION=x', '']],
  ['Expect', ['100-continue', 'x']],
  ['Forwarded', ['for=1.2.3.4;host=evil.example']],
  ['If-Match', ['"x"']],
  ['If-Modified-Since', ['Thu, 01 Jan 1970 00:00:00 GMT', 'x']],
  ['If-None-Match', ['*', '"x", W/"y"', '"']],
  ['Max-Forwards', ['0']],
  ['Origin', ['http://evil.example', 'null']],
  ['Portico-Force', ['true', 'x']],
  ['Range', ['bytes=0-0', 'bytes=9-1,2-3']],
  ['TE', ['trailers']],
  ['Upgrade', ['websocket']],
  ['Via', ['1.1 portico', '1.0 x, 1.1 y']],
  ['X-Auth-Token', ['x']],
  ['X-Forwarded-For', ['1.2.3.4', 'x, , ::1']],
  ['X-Forwarded-Host', ['evil.example']],
  ['X-HTTP-Method-Override', ['DELETE', 'PUT']],
  ['X-Original-URL', ['/admin']],
  ['X-Request-Id', ['abc', 'a b', '"><script>', 'x'.repeat(500)]],
  ['traceparent', ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x']],
  ['tracestate', ['a=b', ',,,', 'x'.repeat(600)]],
];
const header = constantFrom(...HEADERS).chain(([name, values]) => tuple(constant(name), constantFrom(...values)));
const otherHeader = tuple(fc.stringMatching(/^X-[A-Za-z!#$%&'*+.^_`|~-]{1,12}$/), fc.stringMatching(/^[!-~]{0,20}$/));

const requestBody = (usual: string | null) =>
  oneof(
    { weight: 5, arbitrary: constant(usual) },
    constantFrom(
      '',
      '{',
      'null',
      '[]',
      '{}',
      '"x"',
      '{"a":1,"a":2}',
      '{"body":1}',
      '{"body":"x","visibility":"recipients"}',
      '[['.repeat(200),
    ),
    constantFrom(
      '{"body":"x","visibility":"all","recipients":["bob"]}',
      '{"content":"username\\n\\n"}',
      '{"content":"a,b\\n1\\n"}',
      '\u00ff\u00fe{',
      '{"body":"\\ud800"}',
    ),
    fc.json({ maxDepth: 3 }).map((text) => Buffer.from(text).toString('latin1')),
  );

const caller = oneof(
  {
    weight: 8,
    arbitrary: constantFrom('admin', 'alice', 'bob', 'guest', 'moderator').map((user) => ({
      user: user as string | null,
      password: null as string | null,
    })),
  },
  constantFrom(
    'nobody',
    'who',
    '__proto__',
    '',
    'a\u0000b',
    'a\u001b[31mb',
    'a\u009b31mb\u2028',
    'x\r\n{"level":"error"}',
    '"},{"',
  ).map((user) => ({
    user: user as string | null,
    password: null as string | null,
  })),
  constantFrom('admin', 'alice', 'who').map((user) => ({
    user: user as string | null,
    password: WRONG_PASSWORD as string | null,
  })),
  constant({ user: null as string | null, password: null as string | null }),
);

const RESPONSE_HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ['Cache-Control', ['no-store', 'public, max-age=9999', 'private']],
  ['Content-Disposition', ['attachment; filename="x"']],
  ['Content-Encoding', ['gzip', 'x', 'identity']],
  ['Content-Language', ['de']],
  ['ETag', ['"x"', 'W/"y"', 'z']],
  ['Last-Modified', ['Thu, 01 Jan 1970 00:00:00 GMT', 'x']],
  ['Link', ['<http://evil.example/>; rel="next"']],
  ['Location', ['http://evil.example/', '/services/v2/x', '//x', '']],
  ['Refresh', ['0; url=http://evil.example/']],
  ['Retry-After', ['5', '-1', 'x', '99999999999999999999', 'Fri, 31 Dec 9999 23:59:59 GMT']],
  ['Server', ['Apache-Coyote/1.1']],
  ['Set-Cookie', ['SESSION=$CALLER']],
  ['Vary', ['*', 'Cookie', 'Accept-Encoding']],
  ['WWW-Authenticate', ['Basic realm="x"', 'Negotiate']],
  ['X-Powered-By', ['$CALLER']],
];
const responseHeader = constantFrom(...RESPONSE_HEADERS).chain(([name, values]) =>
  tuple(constant(name), constantFrom(...values)),
);

const act = (operation: string | undefined): fc.Arbitrary<UpstreamAct> => {
  const usual: UpstreamAct = {
    kind: 'respond',
    status: 200,
    headers: [['Content-Type', 'application/json']],
    body: operation === undefined ? '{"mark":"$CALLER"}' : `$EXAMPLE ${operation}`,
  };
  return oneof(
    { weight: 6, arbitrary: constant(usual) },
    {
      weight: 4,
      arbitrary: record({
        kind: oneof(
          { weight: 6, arbitrary: constant('respond' as const) },
          constantFrom('reset' as const, 'cut' as const),
        ),
        status: constantFrom(
          200,
          201,
          202,
          203,
          204,
          206,
          301,
          302,
          304,
          400,
          401,
          403,
          404,
          409,
          418,
          422,
          429,
          500,
          502,
          503,
          504,
          599,
        ),
        headers: tuple(
          constantFrom('application/json', 'text/html', 'application/json;charset=UTF-8', 'text/plain', ';;'),
          array(responseHeader, { maxLength: 3 }),
        ).map(([type, more]) => more.concat([['Content-Type', type]])),
        body: oneof(
          constant(usual.body),
          constantFrom(
            '',
            '{',
            'null',
            '[]',
            '{}',
            '{"error":"$CALLER"}',
            '{"error":"no<br>\\r\\nX: y"}',
            '{"errors":{"message":"$CALLER"}}',
          ),
          constantFrom(
            '<html>$CALLER</html>',
            '{"list":[],"totalCount":0}',
            '{"list":[null,1],"pageCount":"x"}',
            '[['.repeat(300),
            '\u0000\u00ff',
            '{"list":{"a":1e999}}',
          ),
        ),
      }),
    },
  );
};

interface Usual {
  readonly method: string;
  readonly target: string;
  readonly operation: string;
  readonly body: string | null;
}

const stepOf = (usual: Usual): fc.Arbitrary<FuzzStep> =>
  record({
    method: oneof({ weight: 6, arbitrary: constant(usual.method) }, constantFrom(...METHODS)),
    target: oneof(
      { weight: 6, arbitrary: constant(usual.target) },
      { weight: 3, arbitrary: mutated(usual.target) },
      { weight: 1, arbitrary: elsewhere },
    ),
    headers: oneof(
      { weight: 3, arbitrary: constant([] as (readonly [string, string])[]) },
      array(oneof({ weight: 4, arbitrary: header }, otherHeader), { maxLength: 4 }),
    ),
    body: requestBody(usual.body),
    caller,
    upstream: act(usual.operation),
    wait: constantFrom(0, 0, 0, 1, 31, 61, 400),
  }).map(({ caller: { user, password }, method, target, headers, body, upstream, wait }) => ({
    method,
    target,
    headers,
    body,
    user,
    password,
    upstream,
    wait,
  }));

/**
 * Returns random scripts for a mode. The requests in a script have only a few different targets, so that callers share
 * cached pages and writes change them.
 */
export const anyScript = (mode: FuzzScript['mode']): fc.Arbitrary<FuzzScript> =>
  array(documented, { minLength: 1, maxLength: 2 })
    .chain((pool) => array(constantFrom(...pool).chain(stepOf), { minLength: 1, maxLength: 8 }))
    .map((steps) => ({ mode, steps }));
