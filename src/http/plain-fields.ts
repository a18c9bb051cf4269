/** The fields of a plain request that its answer depends on. */
export interface PlainFields {
  readonly authorization: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly acceptEncoding: string | undefined;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly host: string | undefined;
  /** The two fields that may hold another credential. */
  readonly cookie: string | undefined;
  readonly authToken: string | undefined;
}

/** The same, while they are being found. */
type Found = { -readonly [Field in keyof PlainFields]: PlainFields[Field] };

/** What a field makes of a request: one that is read, one that makes it no plain request, or one that changes nothing. */
type Meaning = keyof PlainFields | 'unusual' | 'nothing';

const MEANINGS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['authorization', 'authorization'],
  ['if-none-match', 'ifNoneMatch'],
  ['accept-encoding', 'acceptEncoding'],
  ['x-request-id', 'requestId'],
  ['traceparent', 'traceparent'],
  ['tracestate', 'tracestate'],
  ['host', 'host'],
  ['cookie', 'cookie'],
  ['x-auth-token', 'authToken'],
  // A body, an expectation, another protocol, or a wish for a fresh answer: whoever handles those reads the whole request.
  ...[
    'content-length',
    'transfer-encoding',
    'content-type',
    'expect',
    'upgrade',
    'cache-control',
    'pragma',
    'proxy-connection',
  ].map((name) => [name, 'unusual'] as const),
]);
const MAX_SPELLINGS = 500;

/**
 * Reads a request's raw fields without the object that Node makes of them all; undefined for a request that is not plain:
 * one with a body, an expectation or a wish for a fresh answer, or with one of the fields that are read twice.
 */
export function createPlainFields(): (rawHeaders: readonly string[]) => PlainFields | undefined {
  // Clients spell names in a few ways only, and putting a name into lower case costs more than finding it.
  const spellings = new Map<string, Meaning>(MEANINGS);
  const learn = (name: string): Meaning => {
    const meaning = MEANINGS.get(name.toLowerCase()) ?? 'nothing';
    if (spellings.size < MAX_SPELLINGS && name.length <= 40) spellings.set(name, meaning);
    return meaning;
  };
  return (rawHeaders) => {
    const found: Found = {
      authorization: undefined,
      ifNoneMatch: undefined,
      acceptEncoding: undefined,
      requestId: undefined,
      traceparent: undefined,
      tracestate: undefined,
      host: undefined,
      cookie: undefined,
      authToken: undefined,
    };
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] ?? '';
      const meaning = spellings.get(name) ?? learn(name);
      if (meaning === 'nothing') continue;
      if (meaning === 'unusual' || found[meaning] !== undefined) return undefined;
      found[meaning] = rawHeaders[at + 1];
    }
    return found;
  };
}
