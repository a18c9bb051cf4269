import { type HeaderPairs, headerValues } from '../../engine/model/header-pairs.ts';
import { REHEARSAL, type Violation, type ViolationLocation } from '../../engine/model/violation.ts';
import type { RepeatedResponse } from '../../engine/pipeline/repeat-request.ts';

/** What is compared of a response. It contains neither the body nor the value of a cookie. */
export interface ResponseFacts {
  readonly status: number;
  /** The length of the body without its content coding, in bytes. Undefined if the coding cannot be removed. */
  readonly length: number | undefined;
  /** The values of the compared headers, by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

/** What is compared of a response to a request in the form of staging. */
export interface BuiltResponseFacts extends ResponseFacts, Pick<RepeatedResponse, 'codingFault' | 'newSessions'> {
  /** The names of the cookies that the response sets, without the session cookies that Portico keeps. */
  readonly cookies: readonly string[];
}

/** A property of a response that can change by itself: the status, the length or a header. */
type Property = 'status' | 'length' | `header ${string}`;

/** One difference between the response that a client received and the response in the form of staging. */
export interface Difference {
  /** The property that differs. Undefined for what the response in the form of staging shows without the other one. */
  readonly property?: Property;
  readonly violation: Violation;
}

const namesIn = (text: string) => text.trim().split(/\s+/);

/**
 * Headers that are not compared: they are different in each response, describe the connection or a cache on the way, or
 * are compared in another way.
 */
const UNCOMPARED: ReadonlySet<string> = new Set(
  namesIn(`
  age alt-svc cf-ray content-encoding content-length date etag expires last-modified nel report-to server-timing
  set-cookie set-cookie2 traceparent tracestate vary via x-amz-cf-id x-amzn-requestid x-amzn-trace-id x-cache
  x-cache-hits x-correlation-id x-request-id x-response-time x-runtime x-served-by x-timer x-trace-id x-varnish
`),
);

/** The maximum number of headers and of cookies to report for one response. */
const MAX_NAMES = 16;

/** Returns the names of the headers that are not compared, in lower case. */
export function uncomparedHeaders(configured: readonly string[]): ReadonlySet<string> {
  return new Set([...UNCOMPARED, ...configured.map((name) => name.toLowerCase())]);
}

/** Returns what is compared of a response. `body` has no content coding; it is undefined if the coding is unknown. */
export function factsOf(
  { status, headers }: { readonly status: number; readonly headers: HeaderPairs },
  body: Buffer | undefined,
  uncompared: ReadonlySet<string>,
): ResponseFacts {
  const values = new Map<string, string>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (uncompared.has(key)) continue;
    const earlier = values.get(key);
    values.set(key, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return { status, length: body?.length, headers: values };
}

/** Returns what is compared of a response to a request in the form of staging. */
export function builtFactsOf(response: RepeatedResponse, uncompared: ReadonlySet<string>): BuiltResponseFacts {
  const { codingFault, newSessions, headers } = response;
  const pairs = headerValues(headers, 'set-cookie').map((value) => value.split('=', 1)[0] ?? '');
  return {
    ...factsOf(response, codingFault === undefined ? response.body : undefined, uncompared),
    ...(codingFault === undefined ? {} : { codingFault }),
    newSessions,
    cookies: [...new Set(pairs.map((name) => name.trim()))].slice(0, MAX_NAMES),
  };
}

/** Returns the properties that two responses do not have in common. With different statuses, nothing else is compared. */
export function changedProperties(one: ResponseFacts, other: ResponseFacts): ReadonlySet<Property> {
  if (one.status !== other.status) return new Set(['status']);
  const changed = new Set<Property>();
  if (one.length !== undefined && other.length !== undefined && one.length !== other.length) changed.add('length');
  for (const name of new Set([...one.headers.keys(), ...other.headers.keys()]))
    if (one.headers.get(name) !== other.headers.get(name)) changed.add(`header ${name}`);
  return changed;
}

/** Returns whether a property is among the changed ones, or cannot be compared because the status is. */
export function hasChanged(changed: ReadonlySet<Property>, { property }: Difference): boolean {
  return property !== undefined && (changed.has(property) || changed.has('status'));
}

/**
 * Returns the differences between the response that a client received and the response to the same request in the form
 * of staging. `hasCredential` states whether the request has a credential, so that its session is kept.
 */
export function differencesOf(
  received: ResponseFacts,
  built: BuiltResponseFacts,
  hasCredential: boolean,
): readonly Difference[] {
  const headers = [...changedProperties(received, built)].map((property): Difference => {
    if (property === 'status')
      return {
        property,
        violation: violationOf('status', '', `status-${built.status}`, STATUS, `status ${built.status}`),
      };
    if (property === 'length') {
      const found = `${built.length} bytes instead of ${received.length}`;
      return { property, violation: violationOf('body', '', 'length', LENGTH, found) };
    }
    const name = property.slice('header '.length);
    const [keyword, message] = received.headers.has(name)
      ? built.headers.has(name)
        ? (['header-value', HEADER_VALUE] as const)
        : (['header-missing', HEADER_MISSING] as const)
      : (['header-added', HEADER_ADDED] as const);
    return { property, violation: violationOf('header', name, keyword, message) };
  });
  const [sessionKeyword, sessionMessage] = hasCredential
    ? (['session-replaced', SESSION_REPLACED] as const)
    : (['session-anonymous', SESSION_ANONYMOUS] as const);
  return [
    ...built.newSessions.map((name) => ({
      violation: violationOf('header', `set-cookie/${name}`, sessionKeyword, sessionMessage),
    })),
    ...built.cookies.map((name) => ({
      violation: { ...violationOf('header', `set-cookie/${name}`, 'cookie', COOKIE), suggestion: COOKIE_SUGGESTION },
    })),
    ...(built.codingFault === undefined
      ? []
      : [
          {
            violation: violationOf(
              'header',
              'content-encoding',
              `coding-${built.codingFault}`,
              built.codingFault === 'mislabelled' ? MISLABELLED : UNSUPPORTED,
            ),
          },
        ]),
    ...headers.slice(0, MAX_NAMES),
  ];
}

const STATUS = 'The server responds to the request in the form of staging with another status.';
const LENGTH = 'The server responds to the request in the form of staging with a body of another length.';
const HEADER_VALUE = 'The server responds to the request in the form of staging with another value of this header.';
const HEADER_MISSING = 'The server responds to the request in the form of staging without this header.';
const HEADER_ADDED = 'The server responds to the request in the form of staging with this additional header.';
const SESSION_REPLACED =
  'The server replaces the session that Portico keeps for the caller, so in staging each request begins a session.';
const SESSION_ANONYMOUS =
  'The server begins a session for this anonymous request, and in staging for each one, because none is kept for them.';
const COOKIE = 'The server sets this cookie, so in staging the client does not receive it and the page is not stored.';
const COOKIE_SUGGESTION = 'if the cookie identifies a session, add its name to upstream.sessionCookies';
const MISLABELLED =
  'The body does not have the content coding of its label, so staging requests it once more without a coding.';
const UNSUPPORTED =
  'The body has a content coding that Portico cannot remove, so staging requests it once more without a coding.';

function violationOf(
  location: ViolationLocation,
  at: string,
  keyword: string,
  message: string,
  found?: string,
): Violation {
  return {
    check: 'responses',
    direction: 'response',
    category: REHEARSAL,
    location,
    at,
    keyword,
    schemaPath: '',
    message,
    ...(found === undefined ? {} : { found }),
  };
}
