import { basic } from '../builders/call.ts';

/*
 * The messages of the raw-socket tests, as bytes. Each case states which responses the client receives, whether the
 * connection remains usable, and how many requests reach the upstream.
 */

/** The values that differ between runs of a case. */
export interface RawTargets {
  /** The value of the `X-Case` header in every request of the case. */
  readonly id: string;
  /** A target that supports GET, and one that supports POST. The upstream responds to both with status 200. */
  readonly target: string;
  readonly write: string;
  /** A stored page, and its entity tag. */
  readonly page: string;
  readonly etag: string;
}

/** What a client observes, and what the upstream receives. */
export interface RawOutcome {
  /** The statuses of all responses, including interim ones. */
  readonly statuses: readonly number[];
  /** The number of complete requests that reach the upstream. */
  readonly upstream: number;
  /** True if the gateway closes the connection. If false, the next request on the connection receives its response. */
  readonly closed: boolean;
}

/** The outcome of one message. */
export interface RawCase extends RawOutcome {
  readonly group: string;
  readonly name: string;
  /** The bytes as a Latin-1 string. */
  readonly bytes: (targets: RawTargets) => string;
  /** How the outcome differs if the path is undocumented and the mode is `observe`. */
  readonly observe?: Partial<RawOutcome>;
}

const AUTHORIZATION = `Authorization: ${basic('admin')}`;
const BODY = '{"body":"x"}';
const CRLF = '\r\n';
type Bytes = RawCase['bytes'];

const lines = (...all: readonly string[]) => [...all, '', ''].join(CRLF);
/** Creates a head with a credential but no `Host`. */
const bare =
  (requestLine: string, ...headers: readonly string[]): Bytes =>
  ({ id, target, write }) =>
    lines(requestLine.replace('TARGET', target).replace('WRITE', write), ...headers, AUTHORIZATION, `X-Case: ${id}`);
const get = (...headers: readonly string[]): Bytes => bare('GET TARGET HTTP/1.1', 'Host: x', ...headers);
const line = (requestLine: string, ...headers: readonly string[]): Bytes => bare(requestLine, 'Host: x', ...headers);
const post =
  (headers: readonly string[], body: string): Bytes =>
  (targets) =>
    line('POST WRITE HTTP/1.1', 'Content-Type: application/json', ...headers)(targets) + body;
const size = BODY.length.toString(16);
const CHUNKS = `${size}${CRLF}${BODY}${CRLF}0${CRLF}${CRLF}`;
const chunked = (body: string, coding = 'Transfer-Encoding: chunked') => post([coding], body);
const join =
  (...parts: readonly Bytes[]): Bytes =>
  (targets) =>
    parts.map((part) => part(targets)).join('');
const text =
  (bytes: string): Bytes =>
  () =>
    bytes;

type Rows = Readonly<Record<string, Bytes>>;
const cases: RawCase[] = [];

function add(group: string, rows: Rows, outcome: RawOutcome, observe?: Partial<RawOutcome>): void {
  for (const [name, bytes] of Object.entries(rows))
    cases.push({ group, name, bytes, ...outcome, ...(observe && { observe }) });
}
const printable = (value: string) => JSON.stringify(value.length > 40 ? `${value.slice(0, 30)}…` : value);
/** Encodes a string as UTF-8 and returns each byte as a Latin-1 character. */
const utf8 = (value: string) => Buffer.from(value).toString('latin1');
/** Creates one case for each value, named after the value. */
const each = (what: string, values: readonly string[], make: (value: string) => Bytes): Rows =>
  Object.fromEntries(values.map((value) => [`${what} ${printable(value)}`, make(value)]));

const REFUSED: RawOutcome = { statuses: [400], upstream: 0, closed: true };
const UNKNOWN_CODING: RawOutcome = { ...REFUSED, statuses: [501] };
const SERVED: RawOutcome = { statuses: [200], upstream: 1, closed: false };
const LAST: RawOutcome = { ...SERVED, closed: true };
/** Returns the outcome of a refusal that leaves the connection usable. */
const replies = (...statuses: readonly number[]): RawOutcome => ({ statuses, upstream: 0, closed: false });

// Cases in which a declared length determines where the body ends.
const length = (value: string) => post([`Content-Length: ${value}`], BODY);
add(
  'a length that is',
  {
    ...each('written as', ['12', '0012', '00000000000000000012', '\t12', '12\t', '  12  '], length),
    'in a header with a capital name': post(['CONTENT-LENGTH: 12'], BODY),
    'directly after the colon': post(['Content-Length:12'], BODY),
  },
  SERVED,
);
add(
  'a length that is',
  {
    ...each(
      'written as',
      [
        ['', ' ', '+12', '-12', '-0', '0x0c', '0b1100', '12,12', '12, 12', '12;', '12 12', '1 2', '1\t2', '12.0'],
        [
          '1e1',
          '"12"',
          utf8('１２'),
          'twelve',
          '12\u000b',
          '\u000b12',
          '12\u0000',
          '\u000012',
          '12\u00a0',
          '12_0',
          '12a',
        ],
        ['99999999999999999999', '18446744073709551616', '18446744073709551628', '9'.repeat(500)],
      ].flat(),
      length,
    ),
    'given twice': post(['Content-Length: 12', 'Content-Length: 12'], BODY),
    'given twice, once in capitals': post(['Content-Length: 12', 'CONTENT-LENGTH: 12'], BODY),
    'given twice, first too short': post(['Content-Length: 0', 'Content-Length: 12'], BODY),
    'given twice, then too short': post(['Content-Length: 12', 'Content-Length: 0'], BODY),
    'given twice, then empty': post(['Content-Length: 12', 'Content-Length:'], BODY),
    'separated by another header': post(['Content-Length: 12', 'X-A: b', 'Content-Length: 13'], BODY),
    'before a colon with a space': post(['Content-Length : 12'], BODY),
    'before a colon with a tab': post(['Content-Length\t: 12'], BODY),
    'after a space': post(['X-A: b', ' Content-Length: 12'], BODY),
    'folded onto the next line': post(['Content-Length:', ' 12'], BODY),
    'after a bare LF': post(['X-A: b\nContent-Length: 12'], BODY),
    'after a bare CR': post(['X-A: b\rContent-Length: 12'], BODY),
    'before a bare LF': post(['Content-Length: 12\nX-A: b'], BODY),
    'in a name that contains NUL': post(['Content\u0000-Length: 12'], BODY),
  },
  REFUSED,
);
add(
  'a length that is',
  {
    'in a header of another name': post(['Content_Length: 12'], BODY),
    'in a header of a longer name': post(['X-Content-Length: 12'], BODY),
    'shorter than the body': length('4'),
    'zero in front of a body': length('0'),
  },
  { statuses: [400, 400], upstream: 0, closed: true },
  { statuses: [200, 400], upstream: 1 },
);
add(
  'a length that is',
  {
    'zero for a GET': get('Content-Length: 0'),
    'named by Connection': post(['Content-Length: 12', 'Connection: Content-Length'], BODY),
  },
  SERVED,
);
// No documented GET takes a body. The body is read all the same, so that the next request starts at the right byte.
add(
  'a length that is',
  { 'given for the body of a GET': (targets) => get('Content-Length: 12')(targets) + BODY },
  { statuses: [400], upstream: 0, closed: false },
  SERVED,
);

// Cases for a transfer coding, which determines where the body ends.
const coding = (value: string) => chunked(CHUNKS, `Transfer-Encoding: ${value}`);
add(
  'a transfer coding that is',
  {
    ...each('written as', ['chunked', 'Chunked', 'CHUNKED', 'cHuNkEd', 'chunked ', '   chunked', '\tchunked'], coding),
    'in a header in capitals': chunked(CHUNKS, 'TRANSFER-ENCODING: chunked'),
    'directly after the colon': chunked(CHUNKS, 'Transfer-Encoding:chunked'),
    'named by Connection': post(['Transfer-Encoding: chunked', 'Connection: Transfer-Encoding'], CHUNKS),
    'chunked for a GET': (targets) => get('Transfer-Encoding: chunked')(targets) + `0${CRLF}${CRLF}`,
    'also listed in TE': post(['Transfer-Encoding: chunked', 'TE: trailers, chunked'], CHUNKS),
    'only listed in TE': get('TE: chunked', 'Connection: TE'),
  },
  SERVED,
);
add(
  'a transfer coding that is',
  {
    ...each(
      'written as',
      [
        ['xchunked', 'chunkedx', 'chunked, identity', 'identity, chunked', 'gzip, chunked', 'gzip,chunked'],
        ['chunked, gzip', 'chunked, chunked', 'chunked,', ', chunked', 'chunked;a=b', 'chunked ; q=1', '"chunked"'],
        ["'chunked'", 'identity', 'gzip', 'deflate', 'compress', 'br', 'x', '', 'chun ked', 'chunk\ted', 'chunked\t'],
        ['chunked chunked', 'chunked identity', 'chunked:', '[chunked]', '*', 'chunked\u00a0', '\u00a0chunked'],
      ].flat(),
      coding,
    ),
    'gzip, then chunked in a second header': post(['Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'], CHUNKS),
    'chunked, then gzip in a second header': post(['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip'], CHUNKS),
    'chunked in two headers': post(['Transfer-Encoding: chunked', 'transfer-encoding: chunked'], CHUNKS),
    'identity, then chunked': post(['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'], CHUNKS),
    'chunked, then nothing': post(['Transfer-Encoding: chunked', 'Transfer-Encoding:'], CHUNKS),
    'unknown for a GET': (targets) => get('Transfer-Encoding: xchunked')(targets) + CHUNKS,
  },
  UNKNOWN_CODING,
);
add(
  'a transfer coding that is',
  {
    ...each(
      'written as',
      ['\u000bchunked', '\u0000chunked', 'chunked\u0000', 'chunked\u000b', 'chunked\u007f'],
      coding,
    ),
    'before a colon with a space': chunked(CHUNKS, 'Transfer-Encoding : chunked'),
    'before a colon with a tab': chunked(CHUNKS, 'Transfer-Encoding\t: chunked'),
    'in a name that ends in NUL': chunked(CHUNKS, 'Transfer-Encoding\u0000: chunked'),
    'in a name that ends in a vertical tab': chunked(CHUNKS, 'Transfer-Encoding\u000b: chunked'),
    'after a space': post(['X-A: b', ' Transfer-Encoding: chunked'], CHUNKS),
    'folded onto the next line': chunked(CHUNKS, 'Transfer-Encoding:\r\n chunked'),
    'folded with a tab': chunked(CHUNKS, 'Transfer-Encoding:\r\n\tchunked'),
    'after a bare LF': chunked(CHUNKS, 'X-A: b\nTransfer-Encoding: chunked'),
    'after a bare CR': chunked(CHUNKS, 'X-A: b\rTransfer-Encoding: chunked'),
    'before a length': post(['Transfer-Encoding: chunked', 'Content-Length: 12'], CHUNKS),
    'after a length': post([`Content-Length: ${CHUNKS.length}`, 'Transfer-Encoding: chunked'], CHUNKS),
    'beside a length of zero': post(['Content-Length: 0', 'Transfer-Encoding: chunked'], CHUNKS),
    'identity beside a length': post(['Content-Length: 12', 'Transfer-Encoding: identity'], BODY),
    'unknown beside a length': post(['Content-Length: 12', 'Transfer-Encoding: cow'], BODY),
    'chunked in HTTP/1.0': (targets) => bare('POST WRITE HTTP/1.0', 'Transfer-Encoding: chunked')(targets) + CHUNKS,
    'chunked in a kept HTTP/1.0 connection': (targets) =>
      bare('POST WRITE HTTP/1.0', 'Connection: keep-alive', 'Transfer-Encoding: chunked')(targets) + CHUNKS,
  },
  REFUSED,
);
add(
  'a transfer coding that is',
  {
    'in a header of another name': post(['Transfer_Encoding: chunked'], CHUNKS),
    'in a header of a longer name': post(['X-Transfer-Encoding: chunked'], CHUNKS),
  },
  { statuses: [400, 400], upstream: 0, closed: true },
  { statuses: [200, 400], upstream: 1 },
);

// Cases for chunked bodies.
const sized = (value: string) => chunked(`${value}${CRLF}${BODY}${CRLF}0${CRLF}${CRLF}`);
const trailer = (...trailers: readonly string[]) => chunked([size, BODY, '0', ...trailers, '', ''].join(CRLF));
add(
  'a chunk',
  {
    ...each(
      'with the size',
      ['c', 'C', '0c', '00000000c', '000000000000000c', 'c;a=b', 'c;a', 'c;a="b"', 'c;a="b;c"'],
      sized,
    ),
    'of one byte each': chunked(
      BODY.split('')
        .map((byte) => `1${CRLF}${byte}${CRLF}`)
        .join('') + `0${CRLF}${CRLF}`,
    ),
    'with a last size of several zeros': chunked(`${size}${CRLF}${BODY}${CRLF}000${CRLF}${CRLF}`),
    'with an extension of the last size': chunked(`${size}${CRLF}${BODY}${CRLF}0;x=y${CRLF}${CRLF}`),
    'before a trailer': trailer('X-A: b'),
    'before a trailer that names a length': trailer('X-Length: 5'),
    'before a Host trailer': trailer('Host: evil.example'),
    'before an Authorization trailer': trailer('Authorization: Basic eDp5'),
  },
  SERVED,
);
add(
  'a chunk',
  {
    ...each(
      'with the size',
      [
        ['', ' c', '\tc', '-c', '+c', '0xc', 'g', 'c,', 'c:', 'c c', 'c\u0000', '\u0000c', 'c\u000b', '"c"', 'c\u00a0'],
        ['fffffffffffffffff', '10000000000000000', '1000000000000000c', '8000000000000000c'],
        ['c;a\u0000', 'c;a\rb', 'c;a\nb', 'c;a="b', `c;${'x'.repeat(20_000)}`],
      ].flat(),
      sized,
    ),
    'with a size that ends in a bare LF': chunked(`${size}\n${BODY}${CRLF}0${CRLF}${CRLF}`),
    'with a size that ends in a bare CR': chunked(`${size}\r${BODY}${CRLF}0${CRLF}${CRLF}`),
    'without a line break after it': chunked(`${size}${CRLF}${BODY}0${CRLF}${CRLF}`),
    'with a bare LF after it': chunked(`${size}${CRLF}${BODY}\n0${CRLF}${CRLF}`),
    'with a bare CR after it': chunked(`${size}${CRLF}${BODY}\r0${CRLF}${CRLF}`),
    'that is longer than its size': chunked(`4${CRLF}${BODY}${CRLF}0${CRLF}${CRLF}`),
    'that is shorter than its size': chunked(`d${CRLF}${BODY}${CRLF}0${CRLF}${CRLF}`),
    'before a last size with a sign': chunked(`${size}${CRLF}${BODY}${CRLF}-0${CRLF}${CRLF}`),
    'before a last chunk with bare LFs': chunked(`${size}${CRLF}${BODY}${CRLF}0\n\n`),
    'before a blank line with a bare LF': chunked(`${size}${CRLF}${BODY}${CRLF}0${CRLF}\n`),
    'before a trailer with a space': trailer('X-A : b'),
    'before a trailer with NUL': trailer('X-A: b\u0000'),
    'before a trailer with a bare LF': trailer('X-A: b\nX-B: c'),
    'before a trailer without a colon': trailer('X-A'),
    'before a folded trailer': trailer('X-A: b', ' c'),
    'before a trailer with a length': trailer('Content-Length: 5'),
  },
  REFUSED,
);
add('a chunk', { 'before a trailer with a transfer coding': trailer('Transfer-Encoding: chunked') }, UNKNOWN_CODING);
add(
  'a chunk',
  {
    'before trailers that are too large': trailer(
      ...Array.from({ length: 400 }, (_, at) => `X-${at}: ${'y'.repeat(60)}`),
    ),
  },
  { ...REFUSED, statuses: [431] },
);

// Cases for the Host header.
const host = (value: string) => bare('GET TARGET HTTP/1.1', `Host: ${value}`);
add(
  'a Host',
  {
    ...each(
      'of',
      [
        'x',
        'X.EXAMPLE',
        'x.',
        'x:80',
        'x:0',
        'x:65535',
        'x:',
        '',
        '127.0.0.1',
        '[::1]',
        '[::1]:80',
        'a_b',
        'x%41',
        ' x ',
      ],
      host,
    ),
    'without a space after the colon': bare('GET TARGET HTTP/1.1', 'Host:x'),
    'in mixed case': bare('GET TARGET HTTP/1.1', 'hOsT: x'),
    'as the last header': bare('GET TARGET HTTP/1.1', 'X-A: b', 'Host: x'),
  },
  SERVED,
);
add(
  'a Host',
  {
    ...each(
      'of',
      [
        ['x y', 'x, y', 'x/y', 'x?y', 'x#y', 'x@y', 'u:p@x', 'x:abc', 'x:123456', 'x:80:80', 'x:-1', '[::1', '::1'],
        ['[::1]x', '[gg::]', '<x>', 'x"', 'x\\y', '../x', 'http://x', 'x^', 'x{}', 'x|y', 'x`', 'x\ty', 'x\u0080'],
        ['x\u0000', 'x\u000b', 'x\u007f', '[::1%25eth0]'],
      ].flat(),
      host,
    ),
    'that is missing': bare('GET TARGET HTTP/1.1'),
    'given twice': get('Host: y'),
    'given twice with one value': get('host: x'),
    'given twice in HTTP/1.0': bare('GET TARGET HTTP/1.0', 'Host: x', 'Host: x'),
    'before a colon with a space': bare('GET TARGET HTTP/1.1', 'Host : x'),
    'folded onto the next line': bare('GET TARGET HTTP/1.1', 'Host:', ' x'),
    'only in a header of another name': bare('GET TARGET HTTP/1.1', 'X-Host: x'),
    'that differs from the target': bare('GET http://yTARGET HTTP/1.1', 'Host: x'),
    'whose port differs from the target': bare('GET http://x:81TARGET HTTP/1.1', 'Host: x'),
    'whose port is not the default one of the target': bare('GET https://x:80TARGET HTTP/1.1', 'Host: x'),
  },
  REFUSED,
);

// Cases for the request target.
add(
  'a target',
  {
    'in absolute form': line('GET http://xTARGET HTTP/1.1'),
    'in absolute form in capitals': line('GET HTTP://XTARGET HTTP/1.1'),
    'in absolute form with https': line('GET https://xTARGET HTTP/1.1'),
    'in absolute form with the default port': line('GET http://x:80TARGET HTTP/1.1'),
    'in absolute form with the default port of https': line('GET https://x:443TARGET HTTP/1.1'),
    'in absolute form in HTTP/1.1 with an IPv6 address': bare('GET http://[::1]:80TARGET HTTP/1.1', 'Host: [::1]'),
  },
  SERVED,
);
add(
  'a target',
  {
    'in absolute form with a user': line('GET http://u:p@xTARGET HTTP/1.1'),
    'in absolute form without a host': line('GET http://TARGET HTTP/1.1'),
    'in absolute form with one slash': line('GET http:TARGET HTTP/1.1'),
    'of another scheme': line('GET ftp://xTARGET HTTP/1.1'),
    'of the scheme file': line('GET file:///etc/passwd HTTP/1.1'),
    'of the scheme javascript': line('GET javascript:alert(1) HTTP/1.1'),
    'in authority form': line('GET x:80 HTTP/1.1'),
    'in authority form with CONNECT': line('CONNECT x:80 HTTP/1.1'),
    'that is a path with CONNECT': line('CONNECT TARGET HTTP/1.1'),
    'without a slash': line('GET services/v2/comment/1.json HTTP/1.1'),
    'of only a query': line('GET ?a=b HTTP/1.1'),
    'of only a fragment': line('GET #a HTTP/1.1'),
    'that starts with a backslash': line('GET \\services\\v2 HTTP/1.1'),
    'that is missing': line('GET HTTP/1.1'),
    'that is empty': line('GET  HTTP/1.1'),
    'with a space': line('GET TARGET ?a=b HTTP/1.1'),
    'with a tab': line('GET TARGET\t?a=b HTTP/1.1'),
    'with a no-break space': line('GET TARGET\u00a0 HTTP/1.1'),
    ...each(
      'with the control character',
      ['\u0000', '\u0001', '\u0008', '\u000b', '\u000c', '\u001b', '\u001f', '\u007f'],
      (byte) => line(`GET TARGET${byte}x HTTP/1.1`),
    ),
    'with a bare CR': line('GET TARGET\rx HTTP/1.1'),
    'with a bare LF': line('GET TARGET\nx HTTP/1.1'),
  },
  REFUSED,
);
add(
  'a target',
  {
    'of an asterisk with GET': line('GET * HTTP/1.1'),
    'of an asterisk with OPTIONS': line('OPTIONS * HTTP/1.1'),
    'with a fragment': line('GET TARGET#a HTTP/1.1'),
    'with a query with a fragment': line('GET TARGET?a#b HTTP/1.1'),
    'with NUL, encoded': line('GET TARGET%00 HTTP/1.1'),
    'with NUL in the query, encoded': line('GET TARGET?a=%00 HTTP/1.1'),
    'with an encoded slash': line('GET /services%2fv2/x HTTP/1.1'),
    'with an encoded backslash': line('GET /services%5Cv2/x HTTP/1.1'),
    'with a dot segment': line('GET /services/./v2/x HTTP/1.1'),
    'with two dots': line('GET /services/v2/../x HTTP/1.1'),
    'with two encoded dots': line('GET /services/v2/%2e%2e/x HTTP/1.1'),
    'with dots and a path parameter': line('GET /services/v2/..;a=b/x HTTP/1.1'),
    'with dots and a backslash': line('GET /services/v2/..\\x HTTP/1.1'),
    'in absolute form with two dots': line('GET http://x/services/v2/../x HTTP/1.1'),
  },
  replies(400),
);
add(
  'a target',
  {
    'that is only a slash': line('GET / HTTP/1.1'),
    'of two slashes': line('GET //x/services/v2/x HTTP/1.1'),
    'in absolute form without a path': line('GET http://x HTTP/1.1'),
    'in absolute form with only a query': line('GET http://x?a=b HTTP/1.1'),
    'of another case': line('GET /SERVICES/v2/other HTTP/1.1'),
    'with an invalid percent-encoding': line('GET /services%zz HTTP/1.1'),
    'with a truncated percent-encoding': line('GET /services% HTTP/1.1'),
    'with a percent-encoding of another kind': line('GET /services%u0041 HTTP/1.1'),
    'with dots in an overlong encoding': line('GET /%c0%ae%c0%ae/x HTTP/1.1'),
    'with an encoded line break': line('GET /a%0d%0aX-A:%20b HTTP/1.1'),
    'with brackets': line('GET /a[b]{c}|d^e`"<> HTTP/1.1'),
  },
  replies(404),
  { statuses: [200], upstream: 1 },
);
add(
  'a target',
  {
    'that is too long': line(`GET /services/v2/${'a'.repeat(8200)} HTTP/1.1`),
    'with a query that is too long': line(`GET TARGET?${'a'.repeat(8200)} HTTP/1.1`),
  },
  replies(414),
);
add(
  'a target',
  { 'longer than a head may be': line(`GET /services/v2/${'a'.repeat(20_000)} HTTP/1.1`) },
  { ...REFUSED, statuses: [431] },
);

// Cases for the HTTP version.
add(
  'the version',
  {
    ...each(
      'of',
      [
        ['HTTP/0.9', 'HTTP/1.2', 'HTTP/1.9', 'HTTP/2.0', 'HTTP/2', 'HTTP/3.0', 'HTTP/1.10', 'HTTP/01.1', 'HTTP/1.01'],
        ['HTTP/1.', 'HTTP/1', 'HTTP/', 'HTTP', 'http/1.1', 'Http/1.1', 'HTTPS/1.1', 'ICY/1.0', 'HTTP/-1.1'],
        ['HTTP/1,1', 'HTTP /1.1', 'HTTP/ 1.1', 'HTTP/1.1x', 'HTTP/1.1 x', 'HTTP/1.1 ', 'HTTP/1.1\t', 'HTTP/1.1;x'],
        ['HTTP/1.1 HTTP/1.1', 'HTTP/1.1\u0000', utf8('HTTP/\u0661.1'), 'XHTTP/1.1', 'HTTP/1.1\u000b', 'HTTP/11'],
      ].flat(),
      (version) => line(`GET TARGET ${version}`),
    ),
    'that is missing': text(lines('GET /services/v2/comment/1.json')),
    'that is missing, with headers': line('GET TARGET'),
    'before a bare LF': ({ target }) => `GET ${target} HTTP/1.1\nHost: x\r\n\r\n`,
    'before a bare CR': ({ target }) => `GET ${target} HTTP/1.1\rHost: x\r\n\r\n`,
    'before two CRs': ({ target }) => `GET ${target} HTTP/1.1\r\r\nHost: x\r\n\r\n`,
    'before LF and CR': ({ target }) => `GET ${target} HTTP/1.1\n\rHost: x\r\n\r\n`,
  },
  REFUSED,
);
add(
  'the version',
  {
    '1.0': bare('GET TARGET HTTP/1.0'),
    '1.0 with a Host': bare('GET TARGET HTTP/1.0', 'Host: x'),
    // Node's parser reads the name of this protocol as that of HTTP. The message has the same form.
    '1.0 of RTSP': bare('GET TARGET RTSP/1.0', 'Host: x'),
  },
  LAST,
);
add('the version', { '1.0 with keep-alive': bare('GET TARGET HTTP/1.0', 'Connection: keep-alive') }, SERVED);

// Cases for the method.
add(
  'the method',
  {
    ...each(
      'of',
      [
        [
          'get',
          'Get',
          'GETX',
          'XGET',
          'FOO',
          'G',
          '_GET',
          'GET,PUT',
          'GET/',
          'GET:',
          '"GET"',
          'GE\tT',
          'GE\u0000T',
          '\u0000GET',
        ],
        [
          '\u00ffGET',
          'GE\u0080T',
          '\u007fGET',
          '',
          ' GET',
          '\tGET',
          '\u000bGET',
          '(GET)',
          'A'.repeat(5000),
          'PLAY',
          'DESCRIBE',
        ],
        ['constructor', '__proto__', 'HTTP/1.1'],
      ].flat(),
      (method) => line(`${method} TARGET HTTP/1.1`),
    ),
    'separated by a tab': line('GET\tTARGET HTTP/1.1'),
    'separated by a form feed': line('GET\u000cTARGET HTTP/1.1'),
  },
  REFUSED,
);
// Node's parser skips further spaces (RFC 9112 §3 allows it). The gateway writes a request line of its own.
add('the method', { 'separated by two spaces': line('GET  TARGET HTTP/1.1') }, SERVED);
add(
  'the method',
  each(
    'of',
    [
      'DELETE',
      'PATCH',
      'PURGE',
      'PROPFIND',
      'MKCOL',
      'LOCK',
      'SEARCH',
      'LINK',
      'M-SEARCH',
      'TRACE',
      'OPTIONS',
      'QUERY',
    ],
    (method) => line(`${method} TARGET HTTP/1.1`, ...(method === 'QUERY' ? ['Content-Length: 0'] : [])),
  ),
  replies(405),
  { statuses: [200], upstream: 1 },
);
add('the method', { 'of HEAD': line('HEAD TARGET HTTP/1.1') }, SERVED);
add(
  'the method',
  {
    'of PATCH with a body': (targets) => line('PATCH TARGET HTTP/1.1', 'Content-Length: 12')(targets) + BODY,
    'of DELETE with chunks': (targets) =>
      line('DELETE TARGET HTTP/1.1', 'Transfer-Encoding: chunked')(targets) + CHUNKS,
    'that an override header changes': line('POST TARGET HTTP/1.1', 'X-HTTP-Method-Override: PUT', 'Content-Length: 0'),
  },
  replies(405),
  { statuses: [200], upstream: 1 },
);

// Cases for the names and values of headers.
add(
  'a header',
  {
    ...each(
      'with the name',
      ['X Y', 'X(Y)', 'X"Y', 'X{Y}', 'X/Y', 'X@Y', 'X[Y]', 'X,Y', 'X;Y', 'X=Y', 'X\\Y', 'X<Y>', 'X?Y', '', ' ', '\tX'],
      (name) => get(`${name}: z`),
    ),
    ...each(
      'with a name that contains',
      ['\u0000', '\u0001', '\u001b', '\u007f', '\u0080', '\u00ff', '\r', '\n'],
      (byte) => get(`X${byte}Y: z`),
    ),
    ...each(
      'with a value that contains',
      [
        '\u0000',
        '\u0001',
        '\u0007',
        '\u0008',
        '\u000b',
        '\u000c',
        '\u000e',
        '\u001b',
        '\u001f',
        '\u007f',
        '\r',
        '\n',
        '\r\r\n',
      ],
      (byte) => get(`X: y${byte}z`),
    ),
    'without a colon': get('X'),
    'before a space and a colon': get('X : y'),
    'that begins with a space, first': bare('GET TARGET HTTP/1.1', ' X: y', 'Host: x'),
    'that begins with a tab, first': bare('GET TARGET HTTP/1.1', '\tX: y', 'Host: x'),
    'folded with a space': get('X: y', ' z'),
    'folded with a tab': get('X: y', '\tz'),
    'folded with an empty line': get('X: y', ' '),
    'that ends in a bare LF': get('X: y\nZ: w'),
    'that ends in two CRs': get('X: y\r'),
  },
  REFUSED,
);
add(
  'a header',
  {
    'without a value': get('X:'),
    'with a value of spaces': get('X:     '),
    'with a value that contains a tab': get('X: y\tz'),
    'with a value of bytes above 127': get('X: \u0080\u00e9\u00ff'),
    'with colons in the value': get('X: a:b: c'),
    'with a long name': get(`${'X'.repeat(2000)}: y`),
    'with every character of a token': get("!#$%&'*+-.^_`|~09azAZ: y"),
    ...each('with the name', ['__proto__', 'constructor', 'hasOwnProperty', 'toString'], (name) => get(`${name}: x`)),
    'given a hundred times': get(...Array.from({ length: 100 }, () => 'X-A: b')),
    'named Proxy': get('Proxy: http://evil.example'),
    'that asks for a trailer': get('Trailer: Authorization'),
  },
  SERVED,
);
add(
  'a header',
  {
    'that is too long': get(`X: ${'y'.repeat(20_000)}`),
    'with a name that is too long': get(`${'X'.repeat(20_000)}: y`),
    'among too many': get(...Array.from({ length: 3000 }, (_, at) => `X-${at}: y`)),
    'among too many of one letter': get(...Array.from({ length: 10_000 }, () => 'a:')),
  },
  { ...REFUSED, statuses: [431] },
);

// Cases for the `Connection`, `Upgrade` and `Expect` headers.
add(
  'Connection',
  {
    ...each('with', ['close', 'CLOSE', 'keep-alive, close', 'close, keep-alive', 'close,', ', close'], (value) =>
      get(`Connection: ${value}`),
    ),
    'in two headers': get('Connection: keep-alive', 'Connection: close'),
  },
  LAST,
);
add(
  'Connection',
  each(
    'with',
    ['keep-alive', '', ',', 'Host', 'Authorization', 'X-A, X-B', 'closed', '"close"', 'Keep-Alive, Proxy'],
    (value) => get(`Connection: ${value}`),
  ),
  SERVED,
);
add(
  'an upgrade',
  {
    'to WebSocket': get(
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      'Sec-WebSocket-Version: 13',
    ),
    'to HTTP/2': get('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
    'to TLS': get('Connection: Upgrade', 'Upgrade: TLS/1.2'),
    'to several protocols': get('Connection: upgrade', 'Upgrade: h2c, websocket, x'),
    'of a POST': post(['Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 12'], BODY),
  },
  // Node loses what arrives together with such a request, so the connection is closed.
  LAST,
);
add('an upgrade', { 'without Connection': get('Upgrade: h2c') }, SERVED);
add(
  'an expectation',
  {
    'of 100-continue with a length': post(['Expect: 100-continue', 'Content-Length: 12'], BODY),
    'of 100-Continue in capitals': post(['EXPECT: 100-CONTINUE', 'Content-Length: 12'], BODY),
    'of 100-continue with chunks': post(['Expect: 100-continue', 'Transfer-Encoding: chunked'], CHUNKS),
  },
  { statuses: [100, 200], upstream: 1, closed: false },
);
add(
  'an expectation',
  {
    ...each('of', ['x', '200-ok', '100 continue', '100-', '100-continued'], (value) => get(`Expect: ${value}`)),
    'that is unknown, with a body': post(['Expect: x', 'Content-Length: 12'], BODY),
  },
  replies(417),
);

// Node sends the interim response if the header contains the word `100-continue`.
add(
  'an expectation',
  each('of', ['100-continue, x', '100-continue;x', 'x-100-continue', '100-continue, 100-continue'], (value) =>
    get(`Expect: ${value}`),
  ),
  replies(100, 417),
);

// Cases for credentials.
add(
  'two Authorization headers',
  {
    'that are equal': get(AUTHORIZATION),
    'that differ': get(`authorization: ${basic('bob')}`),
    'of which one is empty': get('Authorization:'),
    'on a POST': post([AUTHORIZATION, 'Content-Length: 12'], BODY),
  },
  REFUSED,
);
const credential =
  (value: string): Bytes =>
  ({ id, target }) =>
    lines(`GET ${target} HTTP/1.1`, 'Host: x', `X-Case: ${id}`, `Authorization: ${value}`);
const base64 = (value: string) => Buffer.from(value, 'latin1').toString('base64');
add(
  'an Authorization of',
  each(
    'the form',
    [
      [
        '',
        'Basic',
        'Basic ',
        'Basic =',
        'Basic !!!!',
        'Bearer x',
        'Digest username="admin"',
        'Negotiate x',
        'admin:admin',
      ],
      [`Basic ${base64('admin')}`, `Basic ${base64('ad\u0000min:admin')}`, `Basic ${base64('admin:admin\r\nX: y')}`],
      [
        `Basic ${base64('\u00ff\u00fe:x')}`,
        `Basic ${base64(':')}`,
        `Basic ${base64('admin:')}`,
        `Basic ${'A'.repeat(9000)}`,
      ],
      [`${basic('admin')}, ${basic('bob')}`, `${basic('admin')} x`, `Basic,${base64('admin:admin')}`],
    ].flat(),
    credential,
  ),
  replies(401),
  { statuses: [200], upstream: 1 },
);

// Cases with several messages on one connection.
const good = get();
const times = (count: number, part: Bytes) => join(...Array.from({ length: count }, () => part));
add('a pipeline of', { 'two requests': times(2, good) }, { statuses: [200, 200], upstream: 2, closed: false });
add(
  'a pipeline of',
  { 'fifty requests': times(50, good) },
  { statuses: Array<number>(50).fill(200), upstream: 50, closed: false },
);
add(
  'a pipeline of',
  {
    'a POST and a GET': join(length('12'), good),
    'a chunked POST and a GET': join(chunked(CHUNKS), good),
    'a HEAD and a GET': join(line('HEAD TARGET HTTP/1.1'), good),
    'two requests with a blank line between them': join(good, text(CRLF), good),
  },
  { statuses: [200, 200], upstream: 2, closed: false },
);
add(
  'a pipeline of',
  { 'a GET with a body and a GET': join((targets) => get('Content-Length: 12')(targets) + BODY, good) },
  { statuses: [400, 200], upstream: 1, closed: false },
  { statuses: [200, 200], upstream: 2 },
);
add(
  'a pipeline of',
  {
    'a request and one with two Hosts': join(good, get('Host: y')),
    'a request and binary data': join(good, text('\u0000\u0001\u0002\r\n\r\n')),
    'a request and another version': join(good, line('GET TARGET HTTP/2.0')),
    'a request and a lowercase method': join(good, line('get TARGET HTTP/1.1')),
    'a request and bare LFs': join(good, ({ target }) => `GET ${target} HTTP/1.1\nHost: x\n\n`),
    'a request and two lengths': join(good, post(['Content-Length: 12', 'Content-Length: 0'], BODY)),
    'a request and a malformed chunk': join(good, sized('-c')),
    'a request and bytes of its body that its length does not count': join(length('12'), text('!')),
  },
  { statuses: [200, 400], upstream: 1, closed: true },
);
add(
  'a pipeline of',
  { 'ten requests and a malformed one': join(times(10, good), get('Host: y')) },
  { statuses: [...Array<number>(10).fill(200), 400], upstream: 10, closed: true },
);
add('a pipeline of', { 'a malformed request and a good one': join(get('Host: y'), good) }, REFUSED);
add(
  'a pipeline of',
  {
    'a last request and another': join(get('Connection: close'), good),
    'an HTTP/1.0 request and another': join(bare('GET TARGET HTTP/1.0'), good),
  },
  LAST,
);
add(
  'a pipeline of',
  { 'an unsafe path and a good one': join(line('GET /.. HTTP/1.1'), good) },
  { statuses: [400, 200], upstream: 1, closed: false },
);
add(
  'a pipeline of',
  { 'an unknown expectation and a good one': join(get('Expect: x'), good) },
  { statuses: [417, 200], upstream: 1, closed: false },
);
add(
  'a pipeline of',
  {
    'no credential and a good one': join(
      ({ id, target }) => lines(`GET ${target} HTTP/1.1`, 'Host: x', `X-Case: ${id}`),
      good,
    ),
  },
  { statuses: [401, 200], upstream: 1, closed: false },
  { statuses: [200, 200], upstream: 2 },
);

// Cases with other protocols, and with data that is not HTTP.
add(
  'instead of a request,',
  {
    'the preface of HTTP/2': text('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    'a TLS handshake': text(`\u0016\u0003\u0001\u0000\u0004\u0001\u0000\u0000\u0000${CRLF}`),
    'an SSH banner': text('SSH-2.0-OpenSSH_9.0\r\n'),
    'an SMTP greeting': text('EHLO evil.example\r\nQUIT\r\n'),
    'a response': text(lines('HTTP/1.1 200 OK', 'Content-Length: 0')),
    'the first version of the PROXY protocol': text('PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET / HTTP/1.1\r\n\r\n'),
    'the second version of the PROXY protocol': text('\r\n\r\n\u0000\r\nQUIT\n'),
    'NUL bytes': text(`${'\u0000'.repeat(100)}\n`),
    'a line of spaces': text(`${' '.repeat(100)}\r\n`),
    'a long line of one letter': text('A'.repeat(40_000)),
    'bytes without a line break': text(Buffer.alloc(40_000, 'gé\u0001').toString('latin1')),
    JSON: text('{"method":"GET"}\r\n'),
    'a chunk': text(CHUNKS),
    'a byte order mark before the method': (targets) => `\u00ef\u00bb\u00bf${get()(targets)}`,
  },
  REFUSED,
);
add(
  'instead of a request,',
  { 'a request line without an end': text(`GET /${'a'.repeat(200_000)}`) },
  { ...REFUSED, statuses: [431] },
);

add(
  'a request after',
  {
    'a blank line with a space': (targets) => ` \r\n${get()(targets)}`,
  },
  REFUSED,
);
// Before a request line, Node's parser skips any number of CRs and LFs (RFC 9112 §2.2 asks for at least one blank line).
// They contain nothing that another server could read as a message, and the time limits apply.
add(
  'a request after',
  {
    'one blank line': (targets) => `\r\n${get()(targets)}`,
    'two blank lines': (targets) => `\r\n\r\n${get()(targets)}`,
    'many blank lines': (targets) => `${'\r\n'.repeat(1000)}${get()(targets)}`,
    'a bare LF': (targets) => `\n${get()(targets)}`,
    'bare LFs': (targets) => `\n\n\n${get()(targets)}`,
    'a bare CR': (targets) => `\r${get()(targets)}`,
    'bare CRs': (targets) => `\r\r\r\n${get()(targets)}`,
  },
  SERVED,
);
add(
  'a request after',
  { 'another one and two blank lines': join(good, (targets) => `\r\n\r\n${get()(targets)}`) },
  { statuses: [200, 200], upstream: 2, closed: false },
);

// Conditional requests and range requests for a stored page.
const page =
  (...headers: readonly string[]): Bytes =>
  (targets) =>
    lines(
      `GET ${targets.page} HTTP/1.1`,
      'Host: x',
      AUTHORIZATION,
      ...headers.map((one) => one.replaceAll('ETAG', targets.etag)),
    );
const stored = { upstream: 0, closed: false };
add(
  'the stored page, with',
  each(
    'If-None-Match:',
    [
      'ETAG',
      '*',
      'W/ETAG',
      '"a", ETAG',
      '"a",W/"b" , ETAG,"c"',
      '"a,b", ETAG',
      ', , ETAG',
      'ETAG,',
      `${'"a", '.repeat(500)}ETAG`,
    ],
    (value) => page(`If-None-Match: ${value}`),
  ),
  { statuses: [304], ...stored },
);
add(
  'the stored page, with',
  { 'two If-None-Match headers': page('If-None-Match: "a"', 'If-None-Match: ETAG') },
  { statuses: [304], ...stored },
);
add(
  'the stored page, with',
  {
    ...each(
      'If-None-Match:',
      ['"a"', '', '""', 'a', '"', 'W/', 'W/"a"', '"*"', `"${'a'.repeat(8000)}"`, 'W/"'.repeat(2000)],
      (value) => page(`If-None-Match: ${value}`),
    ),
    ...each(
      'If-Modified-Since:',
      [
        'Thu, 01 Jan 1970 00:00:00 GMT',
        'Fri, 31 Dec 9999 23:59:59 GMT',
        '0',
        '-1',
        'x',
        'NaN',
        '1e999',
        'Thu, 99 Foo 2020',
        utf8('２０２０'),
      ],
      (value) => page(`If-Modified-Since: ${value}`),
    ),
    ...each(
      'Range:',
      [
        'bytes=0-0',
        'bytes=-1',
        'bytes=0-',
        'bytes=0-0,2-3',
        'bytes=9-1',
        'x=0-1',
        '',
        'bytes=',
        `bytes=${'0-,'.repeat(1500)}0-`,
        'bytes=99999999999999999999-',
      ],
      (value) => page(`Range: ${value}`),
    ),
    'If-Range and Range': page('If-Range: ETAG', 'Range: bytes=0-1'),
    'If-Match that does not match': page('If-Match: "a"'),
    'If-Unmodified-Since': page('If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT'),
  },
  { statuses: [200], ...stored },
);

/** The bytes of an ordinary request. */
export const GOOD_REQUEST: Bytes = good;

/** All cases in this file. */
export const RAW_CASES: readonly RawCase[] = cases;
