import * as fc from 'fast-check';
import { basic } from './call.ts';

/**
 * Secrets in other forms that people and programs use: grouped, encoded, or with non-ASCII letters. Each can be
 * recognized by its form alone, and none occurs by chance.
 */
export type OddSecrets = Readonly<Record<(typeof KINDS)[number], string>>;

const KINDS = [
  'phone',
  'phoneName',
  'phoneGroups',
  'card',
  'cardName',
  'account',
  'accountName',
  'machine',
  'machineName',
  'ipv6',
  'jwt',
  'base64',
  'tagged',
  'international',
  'encoded',
  'encodedTwice',
  'key',
  'hex',
] as const;

const drawn = (alphabet: string, size: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet.split('')), minLength: size, maxLength: size });
const digits = (size: number) => drawn('0123456789', size);
const letters = (size: number) => drawn('abcdefghijklmnopqrstuvwxyz', size);
const hex = (size: number) => drawn('0123456789abcdef', size);
const byte = fc.integer({ min: 100, max: 249 });

/** Unusual secrets that differ from one run to the next. */
export const anyOddSecrets: fc.Arbitrary<OddSecrets> = fc
  .tuple(fc.array(digits(4), { minLength: 40, maxLength: 40 }), fc.array(letters(8), { minLength: 20, maxLength: 20 }))
  .chain(([group, word]) =>
    fc.record({
      phone: fc.constant(`+49 170 ${group.slice(0, 3).join(' ')}`),
      phoneName: fc.constant(`tel_0170_${group.slice(3, 6).join('_')}`),
      phoneGroups: fc.constant(`(0170) ${group.slice(6, 9).join('-')}`),
      card: fc.constant(group.slice(9, 13).join(' ')),
      cardName: fc.constant(`c${group.slice(13, 17).join('_')}`),
      account: fc.constant(`DE${group.slice(17, 22).join(' ')}`),
      accountName: fc.constant(`DE${group.slice(22, 27).join('-')}`),
      machine: fc.tuple(byte, byte, byte).map((parts) => `from 198.${parts.join('.')}`),
      machineName: fc.tuple(byte, byte, byte).map((parts) => `ip_203_${parts.join('_')}`),
      ipv6: fc.tuple(hex(4), hex(4), hex(4), hex(4)).map((parts) => `2001:db8:9:8:${parts.join(':')}`),
      jwt: fc.tuple(hex(24), hex(30)).map((parts) => `eyJ${word[0]}.eyJ${parts[0]}.${parts[1]}`),
      base64: fc.constant(Buffer.from(`${word[1]}:${word[2]}`).toString('base64')),
      tagged: fc.constant(`${word[3]}+news@${word[4]}.example`),
      international: fc.constant(`${word[5]}@bücher-${word[6]}.example`),
      encoded: fc.constant(`${word[7]}%40${word[8]}.example`),
      encodedTwice: fc.constant(`${word[9]}%2540${word[10]}.example`),
      key: hex(24).map((text) => `whsec_${text}`),
      hex: hex(40),
    }),
  );

/** Turns a string into a valid header name, parameter or media type name by replacing all invalid characters. */
const asToken = (text: string) => text.replaceAll(/[^\w!#$%&'*+.^`|~-]/g, '-');
/** Returns a string's UTF-8 bytes as a string with one character per byte, as in a raw message. */
const asBytes = (text: string) => Buffer.from(text).toString('latin1');
const asId = (text: string) => text.replaceAll(/[^\w.:+/=-]/g, '-');

/** Returns the strings used to detect the secrets in other strings. */
export function oddForms(secrets: OddSecrets): string[] {
  const forms = new Set<string>();
  for (const text of Object.values(secrets)) {
    for (const form of [text, asBytes(text), encodeURIComponent(text), encodeURIComponent(encodeURIComponent(text))])
      forms.add(form);
    forms.add(text.replaceAll(' ', '_'));
    forms.add(text.replaceAll(/\W/g, ''));
    forms.add(Buffer.from(text).toString('base64').replace(/=+$/, ''));
    // Both functions replace the `@`, without which an email address cannot be recognized.
    if (!/[@%]/.test(text)) forms.add(asToken(text)).add(asId(text));
  }
  return [...forms];
}

const LIST = '/services/v2/question.json';
const COMMENT = '/services/v2/node/5/comment.json';
const UPLOAD = '/services/v2/jobs/gdpr/upload.json';

/** Headers that any client or intermediary may send. */
const FIELDS =
  `ETag If-None-Match If-Match If-Range Range Accept Accept-Language Accept-Charset X-Forwarded-For X-Forwarded-Host
  X-Forwarded-Proto X-Forwarded-User X-Real-IP Forwarded traceparent tracestate baggage Portico-Force Portico-Odd Cookie Origin
  User-Agent Cache-Control Pragma X-Correlation-Id X-HTTP-Method-Override TE Via From Date If-Modified-Since Priority`.split(
    /\s+/,
  );

/** Headers that any server may send. */
const RESPONSE_FIELDS =
  `Retry-After Location Server Via Warning Set-Cookie Vary ETag Cache-Control Allow WWW-Authenticate Link Age
  Expires Date Content-Language Content-Disposition X-Request-Id Contract-Status Cache-Status traceparent`.split(/\s+/);

/** Returns a request's head without the empty line that ends it. */
const head = (line: string, ...fields: readonly string[]) =>
  [`${line} HTTP/1.1`, 'Host: qa.example', 'Connection: close', ...fields].join('\r\n');

/**
 * Returns the bytes of complete requests that contain the secret in various locations. `id` is the request id that they
 * send.
 */
export function oddRequests(secret: string, id: string): readonly string[] {
  const [token, bytes, encoded] = [asToken(secret), asBytes(secret), encodeURIComponent(secret)];
  const spaceless = secret.replaceAll(' ', '_');
  const known = [`Authorization: ${basic('everything')}`, `X-Request-Id: ${id}`];
  const get = (target: string, ...fields: readonly string[]) => `${head(`GET ${target}`, ...known, ...fields)}\r\n\r\n`;
  const post = (target: string, text: string, ...fields: readonly string[]) => {
    const body = asBytes(text);
    return `${head(`POST ${target}`, ...known, ...fields, `Content-Length: ${body.length}`)}\r\n\r\n${body}`;
  };
  const json = (target: string, body: unknown) =>
    post(target, typeof body === 'string' ? body : JSON.stringify(body), 'Content-Type: application/json');
  const parameters = ['sort', 'page', 'pageSize', 'spaceId', 'details', 'includeOnly', 'topics', 'wrap', 'q'];
  const utf16 = Buffer.from(JSON.stringify({ body: secret }), 'utf16le').toString('latin1');
  return [
    // Paths with the secret intact, split, encoded twice, and unencoded.
    get(`/services/v2/${encoded}.json`),
    get(`/services/v2/question/${secret.split('.').map(encodeURIComponent).join('/')}/x.json`),
    get(`/services/v2/node/${encodeURIComponent(encoded)}/comment.json`),
    get(`/services/v2/user/${asBytes(secret).replaceAll(' ', '%20')}.json`),
    get(`http://user:${token}@qa.example${LIST}`),
    get(`http://${token}.example${LIST}`),
    // Query strings with the secret as a value, as a name, in list and object notation, and without a name.
    get(`${LIST}?${parameters.map((name) => `${name}=${encoded}`).join('&')}`),
    get(`${LIST}?colour=${encodeURIComponent(encoded)}&size=${secret.replaceAll(' ', '+').replaceAll(/[^ -~]/g, '')}`),
    get(`${LIST}?${encoded}=1&${encodeURIComponent(encoded)}=2&${encoded}`),
    get(`${LIST}?a[${encoded}]=1&b.${encodeURIComponent(spaceless)}=1&${encodeURIComponent(spaceless)}=1`),
    // Headers that contain the secret in the name, as the value or as part of the value.
    get(LIST, `X-${token}: 1`, ...FIELDS.map((name) => `${name}: ${bytes}`)),
    get(LIST, `Accept-Encoding: ${token}`, `Upgrade: ${token}`),
    get(LIST, `Expect: ${bytes}`),
    `GET ${LIST} HTTP/1.1\r\nHost: ${bytes}\r\nConnection: close\r\n\r\n`,
    ...[`Basic ${secret}`, `Digest username="${secret}"`, `${token} x`, basic(secret, secret)].map(
      (credential) => `${head(`GET ${LIST}`, `Authorization: ${asBytes(credential)}`)}\r\n\r\n`,
    ),
    // Request ids. Secrets with characters that ids cannot contain are left out. So are hexadecimal secrets, because
    // they look like ordinary ids.
    ...(/[@%]|^from |^[\da-f]+$/.test(secret) ? [] : [asId(secret), spaceless, `id-${asId(secret)}`]).map(
      (own) => `${head(`GET ${LIST}`, `X-Request-Id: ${asBytes(own)}`)}\r\n\r\n`,
    ),
    // Messages that are not valid HTTP.
    `${token} ${LIST} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET ${LIST} HTTP/${bytes}\r\nHost: x\r\n\r\n`,
    `${bytes}\r\n\r\n`,
    `${head(`POST ${COMMENT}`, `Content-Length: ${bytes}`)}\r\n\r\n`,
    `${head(`POST ${COMMENT}`, `Transfer-Encoding: ${bytes}`)}\r\n\r\n`,
    `${head(`POST ${COMMENT}`, ...known, 'Transfer-Encoding: chunked')}\r\n\r\n${bytes}\r\n`,
    // Chunk extensions and trailers.
    `${head(`POST ${COMMENT}`, ...known, 'Content-Type: application/json', 'Transfer-Encoding: chunked', `Trailer: X-${token}`)}\r\n\r\n2;ext=${token}\r\n{}\r\n0\r\nX-${token}: ${bytes}\r\n\r\n`,
    // Media types, their parameters, and file names.
    post(COMMENT, '{}', `Content-Type: application/${token}`),
    post(COMMENT, '{}', `Content-Type: application/json; charset="${bytes}"; boundary=${token}`),
    post(COMMENT, '{}', 'Content-Type: application/json', `Content-Encoding: ${token}`),
    post(
      UPLOAD,
      `--b\r\nContent-Disposition: form-data; name="${secret}"; filename="${secret}.csv"\r\n\r\nx\r\n--b--`,
      'Content-Type: multipart/form-data; boundary=b',
    ),
    `${head(`POST ${COMMENT}`, ...known, 'Content-Type: application/json; charset=utf-16', `Content-Length: ${utf16.length}`)}\r\n\r\n${utf16}`,
    // Bodies that contain the secret in keys and values at any depth, in invalid JSON, and in invalid CSV.
    json(COMMENT, { body: 'x', [secret]: 1, [spaceless]: 1, deep: { [secret]: { [spaceless]: [secret] } } }),
    json(COMMENT, { body: 5, visibility: secret, recipients: [{ [spaceless]: secret, type: secret }] }),
    json(COMMENT, `{"body": ${secret}`),
    json(COMMENT, `{"${secret}":\n    at ${secret} (file:1:1)`),
    json(UPLOAD, { content: `${secret},x\n${secret}\n`, fileName: secret, [spaceless]: secret }),
    json(UPLOAD, { content: `email\n"${secret}" "x\n` }),
  ];
}

/** Returns the bytes of complete responses that contain the secret in various places. */
export function oddResponses(secret: string): readonly string[] {
  const [token, bytes, encoded] = [asToken(secret), asBytes(secret), encodeURIComponent(secret)];
  const spaceless = secret.replaceAll(' ', '_');
  const responseOf = (status: string, type: string, body: unknown, ...fields: readonly string[]) => {
    const text = asBytes(typeof body === 'string' ? body : JSON.stringify(body));
    const lines = [`HTTP/1.1 ${status}`, `Content-Type: ${type}`, `Content-Length: ${text.length}`, ...fields];
    return `${lines.join('\r\n')}\r\n\r\n${text}`;
  };
  const ok = (body: unknown, ...fields: readonly string[]) => responseOf('200 OK', 'application/json', body, ...fields);
  const item = {
    id: secret,
    type: secret,
    nodeStates: [secret],
    title: 5,
    author: { username: secret, [spaceless]: secret },
  };
  return [
    responseOf(`200 ${bytes}`, 'application/json', {}),
    responseOf('200 OK', `application/json; charset=${token}; x="${bytes}"`, {}),
    responseOf('200 OK', `text/${token}`, secret),
    ok({}, `X-${token}: ${bytes}`, `Set-Cookie: ${token}=${token}; Path=/${encoded}`),
    ok({}, ...RESPONSE_FIELDS.map((name) => `${name}: ${bytes}`)),
    ok({}, `Content-Encoding: ${token}`),
    responseOf(`429 ${bytes}`, 'application/json', { error: 'slower' }, `Retry-After: ${bytes}`),
    responseOf('302 Found', 'text/html', '', `Location: http://${token}/${encoded}?${encoded}`),
    responseOf(`503 ${bytes}`, 'text/html', `<title>${secret}</title>`, `Retry-After: ${bytes}`),
    responseOf(
      '401 X',
      'application/json',
      { error: 'who', [spaceless]: 1 },
      `WWW-Authenticate: ${token} realm="${bytes}"`,
    ),
    responseOf('418 X', 'application/json', { [secret]: 1, [spaceless]: { [spaceless]: secret } }),
    ok({
      listCount: 1,
      list: [{ id: 1, [secret]: { [spaceless]: [secret] } }],
      [secret]: secret,
      [spaceless]: [[secret]],
    }),
    ok({ listCount: 1, list: [item], sorts: [secret], page: secret, pageCount: secret }),
    ok([{ ...item, [spaceless]: { [spaceless]: secret }, extra: { [secret]: [{ [spaceless]: secret }] } }]),
    ok({ listCount: 1, list: [{ id: 1, avatar: `http://${token}.example/${encoded}` }] }),
    ok(`{"list":[${secret}`),
    ok(`{"a":\n    at ${secret} (file:1:1)`),
    // Truncated responses, and bytes that are not valid HTTP.
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{"${bytes}"`,
    `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${token}\r\n\r\n`,
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2;${token}\r\n{}\r\n0\r\nX-${token}: ${bytes}\r\n\r\n`,
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${bytes}\r\n`,
    `HTTP/1.1 200 OK\r\n${bytes}\r\n\r\n`,
    `HTTP/1.1 ${bytes}\r\n\r\n`,
    `HTTP/${bytes} 200 OK\r\n\r\n`,
    `${bytes}\r\n\r\n`,
  ];
}
