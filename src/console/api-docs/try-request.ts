/** A checked request that an operator tries against the gateway. */
export interface TryRequest {
  readonly method: string;
  /** A target below `/services/v2/`, with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The request, or the field of the form that is invalid. */
type TryForm =
  | { readonly ok: true; readonly request: TryRequest }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** Methods that change nothing. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const METHODS: ReadonlySet<string> = new Set([...SAFE_METHODS, 'POST', 'PUT', 'PATCH', 'DELETE']);
const ROOT = '/services/v2/';
const MAX_TARGET = 8192;
const MAX_VALUE = 1000;
const MAX_NAME = 256;
/** The headers that the form may send besides its credential: none for framing, host or proxies. */
const HEADERS: ReadonlyMap<string, string> = new Map(
  ['Accept', 'Accept-Language', 'Cache-Control', 'Content-Type', 'If-None-Match', 'Portico-Force', 'X-Request-Id'].map(
    (name) => [name.toLowerCase(), name],
  ),
);

/** Reads the form: only targets of the API, only listed headers, and everything bounded. */
export function readTryRequest(form: unknown): TryForm {
  const given = isRecord(form) ? form : {};
  const { method, target, body } = given;
  if (typeof method !== 'string' || !METHODS.has(method)) return refuse('method', 'This method cannot be tried.');
  if (typeof target !== 'string' || !isTarget(target))
    return refuse('target', `The target must begin with ${ROOT} and contain no spaces and no dot segments.`);
  if (body !== undefined && typeof body !== 'string') return refuse('body', 'The body must be text.');
  if (body !== undefined && SAFE_METHODS.has(method)) return refuse('body', `${method} must not have a body.`);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(isRecord(given['headers']) ? given['headers'] : {})) {
    const known = HEADERS.get(name.toLowerCase());
    if (known === undefined)
      return refuse('headers', `Only these headers can be sent: ${[...HEADERS.values()].join(', ')}.`);
    if (typeof value !== 'string' || value.length > MAX_VALUE || !/^[\x20-\x7e]*$/.test(value))
      return refuse('headers', `${known} must be one line of at most ${MAX_VALUE} ASCII characters.`);
    headers[known] = value;
  }
  const { credential } = given;
  if (credential !== undefined) {
    const authorization = isRecord(credential) ? toAuthorization(credential) : undefined;
    if (authorization === undefined)
      return refuse('credential', 'A credential must consist of a name without a colon and a password.');
    headers['Authorization'] = authorization;
  }
  return { ok: true, request: { method, target, headers, body } };
}

const refuse = (field: string, message: string) => ({ ok: false, field, message }) as const;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTarget(target: string): boolean {
  if (target.length > MAX_TARGET || !target.startsWith(ROOT) || !/^[\x21-\x7e]+$/.test(target)) return false;
  const [path = ''] = target.split(/[?#]/, 1);
  const segments = path.split(/\/|\\|%2f|%5c/i).map((one) => one.replaceAll(/%2e/gi, '.'));
  return !target.includes('#') && !segments.some((one) => /^\.\.?(?:;|$)/.test(one));
}

function toAuthorization({ name, password }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof name !== 'string' || typeof password !== 'string') return undefined;
  if (name === '' || name.length > MAX_NAME || password.length > MAX_NAME || name.includes(':')) return undefined;
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
