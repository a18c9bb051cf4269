import { DEFAULT_JSON_LIMITS, parseBounded } from '../../../lib/bounded-json.ts';
import { applicable, type DoctorFinding, type Probe, type ProbeContext, readableList } from '../probe.ts';
import { type ProbeResponse, respond } from '../probe-client.ts';
import { headerValues } from '../../../engine/model/header-pairs.ts';
import { isSessionCookie } from '../../../engine/upstream/sessions.ts';
import { UPSTREAM_DEFAULTS } from '../../../engine/upstream/upstream-options.ts';

/** Headers that may occur several times. */
const REPEATABLE = new Set('set-cookie vary link www-authenticate via warning cache-control allow'.split(' '));
/** The session cookies that Portico keeps by default. They do not prevent responses from being stored. */
const SESSION_COOKIES = new Set(UPSTREAM_DEFAULTS.sessionCookies);
/** The maximum size, in bytes, of a response head that Portico accepts by default. */
const MAX_HEAD_BYTES = UPSTREAM_DEFAULTS.maxResponseHeaderBytes;

/** Determines the properties of ordinary responses from the responses received so far and one HEAD request. */
export const responseProbe: Probe = {
  name: 'responses',
  does: 'reads the heads and the text of the responses so far, and requests one list with HEAD',
  requests: () => 1,
  run: async (context) => {
    const { operation, response: list } = readableList(context);
    const head = await respond(context.client, { method: 'HEAD', path: operation.path });
    const [type = 'none'] = headerValues(list.headers, 'content-type');
    const bytes = Math.max(...context.responses.map(headBytes));
    return {
      facts: [
        `The server speaks HTTP/${list.httpVersion} and sends lists as ${type}.`,
        `The largest response head has ${bytes} bytes.`,
      ],
      findings: [
        ...duplicates(context),
        ...applicable([list.httpVersion !== '1.1' && oldVersion(list.httpVersion)]),
        ...textFindings(list, type),
        ...cacheFindings(list),
        ...applicable([
          bytes > MAX_HEAD_BYTES / 2 && largeHead(bytes),
          head.status !== list.status && headDiffers(head.status, list.status),
        ]),
      ],
    };
  },
};

const headBytes = ({ headers }: ProbeResponse): number =>
  headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);

function duplicates({ responses }: ProbeContext): readonly DoctorFinding[] {
  const names = responses.flatMap(({ headers }) => {
    const all = headers.map(([name]) => name.toLowerCase()).filter((name) => !REPEATABLE.has(name));
    return all.filter((name, at) => all.indexOf(name) !== at);
  });
  if (names.length === 0) return [];
  return [
    {
      severity: 'medium',
      text: `Responses repeat headers that may occur only once: ${[...new Set(names)].join(', ')}.`,
      advice:
        'Recipients disagree about which value counts. Often, a proxy adds a header that the server has already sent.',
    },
  ];
}

const oldVersion = (version: string): DoctorFinding => ({
  severity: 'medium',
  text: `The server responds with HTTP/${version}.`,
  advice: 'Each request needs a new connection. Look for an old proxy in between.',
});

function textFindings({ body }: ProbeResponse, type: string): readonly DoctorFinding[] {
  const [, charset] = /charset\s*=\s*"?([\w-]+)/i.exec(type) ?? [];
  const isUtf8 = Buffer.from(body.toString('utf8')).equals(body);
  const isJson = parseBounded(body, DEFAULT_JSON_LIMITS).state !== 'malformed';
  return applicable<DoctorFinding>([
    !/^\s*application\/(?:[\w.+-]+\+)?json\b/i.test(type) && {
      severity: 'medium',
      text: `Lists are labeled as ${type} instead of application/json.`,
      advice: 'Each such response breaks the contract and is not stored. Correct the header on the server.',
    },
    isUtf8 &&
      !isJson && {
        severity: 'high',
        text: 'Lists are not valid JSON.',
        advice: 'Clients cannot read them, and Portico never stores them. portico check --against shows more.',
      },
    charset !== undefined &&
      !/^utf-?8$/i.test(charset) && {
        severity: 'medium',
        text: `Lists are labeled with the charset ${charset}.`,
        advice: 'JSON is always UTF-8 (RFC 8259 §8.1); clients that trust the label display wrong characters.',
      },
    !isUtf8 && {
      severity: 'high',
      text: 'Lists contain bytes that are not UTF-8.',
      advice: 'Such a page breaks the contract: it is counted and never stored. Fix the encoding on the server.',
    },
  ]);
}

/** Returns findings about headers that prevent Portico from storing pages (docs/rules.md §6). */
function cacheFindings({ headers }: ProbeResponse): readonly DoctorFinding[] {
  const varies = headerValues(headers, 'vary')
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'accept-encoding');
  const because = [
    headerValues(headers, 'set-cookie').some((cookie) => !isSessionCookie(cookie, SESSION_COOKIES)) && 'Set-Cookie',
    varies.length > 0 && `Vary: ${varies.join(', ')}`,
  ].filter((header) => header !== false);
  return because.map((header) => ({
    severity: 'medium',
    text: `Lists have ${header}.`,
    advice: 'Portico does not store such responses, so the cache cannot help. Remove the header from the API.',
  }));
}

const largeHead = (bytes: number): DoctorFinding => ({
  severity: 'medium',
  text: `A response head has ${bytes} bytes.`,
  advice: `By default, Portico refuses heads of more than ${MAX_HEAD_BYTES} bytes (upstream.maxResponseHeaderBytes). Look for cookies or debug headers.`,
});

const headDiffers = (head: number, get: number): DoctorFinding => ({
  severity: 'low',
  text: `HEAD gets ${head}, but GET gets ${get}.`,
  advice: 'Both should be the same (RFC 9110 §9.3.2).',
});
