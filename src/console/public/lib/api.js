const TIMEOUT_MS = 15_000;

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

/** Requests data for the console. `signal` aborts the request. */
export function get(path, signal) {
  return call(path, { signal });
}

/** Sends a change in JSON form. */
export function post(path, body) {
  return call(path, {
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
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
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
