const TIMEOUT_MS = 15_000;

/** An answer of the console's data that is no success: `status` is 0 where nothing answered. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string} [field] the member of the request that is wrong
   */
  constructor(status, message, field) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.field = field;
  }
}

/** Reads data of the console; `signal` gives up. */
export function get(path, signal) {
  return call(path, { signal });
}

/** Changes something, by JSON. */
export function post(path, body) {
  return call(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** A path with its query; empty values are left out. */
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
  let answer;
  try {
    answer = await fetch(`api/${path}`, {
      ...request,
      cache: 'no-store',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'The gateway does not answer.');
  }
  const body = await answer.json().catch(() => undefined);
  if (answer.ok && body !== undefined) return body;
  throw new ApiError(answer.status, body?.error ?? `The gateway answered ${answer.status}.`, body?.field);
}
