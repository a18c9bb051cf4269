import { hashPassword } from '../../../src/engine/identity/password-hash.ts';
import { toAuthorization } from '../../../src/lib/basic-credentials.ts';
import type { RawResponse } from '../../../bench/raw-request.ts';
import type { Ask } from './load-client.ts';

/** The callers with private pages. Each caller's password is the same as its name. */
export const CALLERS: readonly string[] = Array.from({ length: 8 }, (_, index) => `caller${index}`);
/** A caller without any permission. */
export const STRANGER = 'stranger';

const PATH = '/services/v2/question.json';
/** The name of the undocumented parameter that makes a request violate the contract. */
const VIOLATION = 'notInTheContract';

/** Describes a response that contains another caller's page. */
export const LEAK = 'a page of another caller';

/** Returns the roles file. */
export async function rolesText(): Promise<string> {
  return JSON.stringify({
    roles: {
      anonymous: {},
      reader: { permissions: ['View the questions list', 'Mark as community wiki'] },
    },
    accounts: await Promise.all([
      ...CALLERS.map((name) => accountOf(name, 'reader')),
      accountOf(STRANGER, 'anonymous'),
    ]),
  });
}

/** The hashes have the lowest cost, because the scenarios do not measure logins. */
async function accountOf(name: string, role: string): Promise<object> {
  return { name, roles: [role], passwordHash: await hashPassword(name, { memory: 8, passes: 1, parallelism: 1 }) };
}

/** Returns the text of a request. */
function messageOf(method: string, target: string, name?: string, body = ''): string {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: portico.test', 'Accept: application/json'];
  if (name !== undefined) lines.push(`Authorization: ${toAuthorization(name, name)}`);
  if (method !== 'GET') lines.push(`Content-Length: ${body.length}`);
  if (body !== '') lines.push('Content-Type: application/json');
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Returns the code in a normalized error body, or undefined for any other body. */
function codeOf({ body, headers }: RawResponse): string | undefined {
  if (!(headers['content-type'] ?? '').startsWith('application/json')) return undefined;
  try {
    const parsed = JSON.parse(body.toString()) as { readonly code?: unknown; readonly error?: unknown };
    return typeof parsed.code === 'string' && typeof parsed.error === 'string' ? parsed.code : undefined;
  } catch {
    return undefined;
  }
}

/** Returns what is wrong with an error response: an unexpected status, an unexpected form, or an internal error. */
function errorFault(response: RawResponse, statuses: readonly number[]): string | undefined {
  const { status, headers } = response;
  if (!statuses.includes(status)) return `unexpected status ${status} (${codeOf(response) ?? 'no code'})`;
  const code = codeOf(response);
  if (code === undefined) return `a ${status} without the normalized body`;
  if (code === 'internal_error') return `a ${status} with internal_error`;
  return status === 503 && headers['retry-after'] === undefined ? `a 503 (${code}) without Retry-After` : undefined;
}

/** Returns a request for a caller's own page. Only upstream failures and limits may cause an error. */
export function pageAsk(name: string, key: string, abortAfterMs?: number): Ask {
  const mark = `"slug":"question-for-${name}-${key}"`;
  return {
    message: messageOf('GET', `${PATH}?q=${key}`, name),
    judge: (response) => {
      if (response.status !== 200) return errorFault(response, [502, 503, 504]);
      const text = response.body.toString('latin1');
      if (!text.includes(mark)) {
        if (!text.includes('question-for-')) return 'a 200 without the page';
        return text.includes(`question-for-${name}-`) ? 'another page' : LEAK;
      }
      return text.includes('"listCount":1') && text.endsWith('}') ? undefined : 'a 200 with an incomplete page';
    },
    ...(abortAfterMs === undefined ? {} : { abortAfterMs }),
  };
}

/** Returns a request that violates the contract. The gateway refuses and records it. */
export function violatingAsk(name: string): Ask {
  return {
    message: messageOf('GET', `${PATH}?${VIOLATION}=1`, name),
    judge: (response) => errorFault(response, [400]),
  };
}

/** Returns a request for a page by a caller who lacks the permission or sends no credential. */
export function deniedAsk(name: string | undefined, key: string): Ask {
  return {
    message: messageOf('GET', `${PATH}?q=${key}`, name),
    judge: (response) => errorFault(response, [name === undefined ? 401 : 403]),
  };
}

/** Returns a write request, which purges the stored pages of questions. */
export function writeAsk(name: string): Ask {
  return {
    message: messageOf('PUT', '/services/v2/node/118/cancelwiki.json', name),
    judge: (response) => (response.status === 200 ? undefined : errorFault(response, [502, 503, 504])),
  };
}

/** Returns a request for a page of the reference server's questions. */
export function listAsk(name: string, key: string): Ask {
  return {
    message: messageOf('GET', `${PATH}?pageSize=1&q=${key}`, name),
    judge: (response) => {
      if (response.status !== 200) return errorFault(response, []);
      return response.body.includes('"list":[') ? undefined : 'a 200 without a page';
    },
  };
}

/** Returns a request that adds a comment to a node of the reference server. */
export function commentAsk(name: string, text: string): Ask {
  return {
    message: messageOf('POST', '/services/v2/node/118/comment.json', name, JSON.stringify({ body: text })),
    judge: (response) => (response.status === 201 ? undefined : errorFault(response, [])),
  };
}
