/** A request that an operator tries against the gateway, checked. */
export interface TryRequest {
  readonly method: string;
  /** Below `/services/v2/`, with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The request, or which field of the form is wrong. */
export type TryForm =
  | { readonly ok: true; readonly request: TryRequest }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** Methods that change nothing. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const METHODS: ReadonlySet<string> = new Set([...SAFE_METHODS, 'POST', 'PUT', 'PATCH', 'DELETE']);
const ROOT = '/services/v2/';
const MAX_TARGET = 8192;
const MAX_VALUE = 1000;
const MAX_NAME = 256;
/** What a form may send beside its credential; nothing that frames a message, names a host or plays a proxy. */
const HEADERS: ReadonlyMap<string, string> = new Map(
  ['Accept', 'Accept-Language', 'Cache-Control', 'Content-Type', 'If-None-Match', 'Portico-Force', 'X-Request-Id'].map(
    (name) => [name.toLowerCase(), name],
  ),
);

/** Reads what the form sent: only documented kinds of targets, only listed header fields, everything bounded. */
export function readTryRequest(form: unknown): TryForm {
  const given = isRecord(form) ? form : {};
  const { method, target, body } = given;
  if (typeof method !== 'string' || !METHODS.has(method)) return refuse('method', 'This method cannot be tried.');
  if (typeof target !== 'string' || !isTarget(target))
    return refuse('target', `A target begins with ${ROOT} and has no spaces and no dot segments.`);
  if (body !== undefined && typeof body !== 'string') return refuse('body', 'The body is a text.');
  if (body !== undefined && SAFE_METHODS.has(method)) return refuse('body', `${method} has no body.`);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(isRecord(given['headers']) ? given['headers'] : {})) {
    const known = HEADERS.get(name.toLowerCase());
    if (known === undefined) return refuse('headers', `Only these can be sent: ${[...HEADERS.values()].join(', ')}.`);
    if (typeof value !== 'string' || value.length > MAX_VALUE || !/^[\x20-\x7e]*$/.test(value))
      return refuse('headers', `${known} is one line of at most ${MAX_VALUE} plain characters.`);
    headers[known] = value;
  }
  const { credential } = given;
  if (credential !== undefined) {
    const authorization = isRecord(credential) ? toAuthorization(credential) : undefined;
    if (authorization === undefined)
      return refuse('credential', 'A credential is a name without a colon and a password.');
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
