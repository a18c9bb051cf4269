/**
 * The request timeouts. `try` is long because it waits for the upstream, and `status` is short so that a hung gateway
 * is noticed quickly.
 */
const TIMEOUTS_MS = { status: 5000, try: 65_000, other: 15_000 };

/** A failed request for console data. `status` is 0 if there was no response. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string} [field] the invalid member of the request
   */
  constructor(status, message, field) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.field = field;
  }
}

/** Returns true if the gateway sent no usable response. A rejected token counts as a response. */
export const isUnreachable = (error) => error !== undefined && (error.status === 0 || error.status >= 500);

/** Requests data for the console. `signal` aborts the request. */
export function get(path, signal) {
  return call(path, { signal });
}

/** Replaces the browser's stored credential with an invalid one. */
export function signOut() {
  return new Promise((resolve, reject) => {
    // `fetch` cannot be used, because a browser replaces its stored credential only for a request that specifies its
    // own user name and password.
    const request = new XMLHttpRequest();
    request.open('GET', 'sign-out', true, 'signed-out', 'signed-out');
    request.addEventListener('load', () => {
      if (request.status === 204) resolve(undefined);
      else reject(new Error('Signing out failed.'));
    });
    request.addEventListener('error', () => reject(new Error('The gateway is not responding.')));
    request.send();
  });
}

/** Sends a change, or a request that is too long or too private for an address, as JSON. `signal` aborts the request. */
export function post(path, body, signal) {
  return call(path, {
    signal,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Appends a query to a path. Empty values are omitted. */
export function withQuery(path, values) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== '' && value !== undefined));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/**
 * @param {string} path
 * @param {RequestInit & { signal?: AbortSignal }} options
 * @returns {Promise<any>}
 */
async function call(path, { signal, ...request }) {
  const timeout = AbortSignal.timeout(TIMEOUTS_MS[path] ?? TIMEOUTS_MS.other);
  let response;
  try {
    response = await fetch(`api/${path}`, {
      ...request,
      cache: 'no-store',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'The gateway is not responding.');
  }
  const body = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body;
  throw new ApiError(response.status, body?.error ?? `The gateway returned status ${response.status}.`, body?.field);
}
