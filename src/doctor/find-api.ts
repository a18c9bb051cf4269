import { errorShape } from '../upstream/translate-failure.ts';
import { statusHint } from '../upstream/transport-failure.ts';
import { CannotProbe, type DoctorFinding, failureText, valuesOf } from './probe.ts';
import type { ProbeClient, ProbeResponse } from './probe-client.ts';

/** Prefixes that are common in installations of the legacy server. */
const COMMON_PREFIXES = ['', '/qa', '/answers', '/community', '/forum', '/api'];

/** The maximum number of requests that the search sends. */
export const MAX_SEARCH_REQUESTS = 12;

/** The address of the API, and what the search for it showed. */
interface FoundApi {
  /** The client for the address that was found. */
  readonly client: ProbeClient;
  readonly facts: readonly string[];
  readonly findings: readonly DoctorFinding[];
}

/**
 * Searches for `/services/v2` under the given base path, its parents and common prefixes. Requests have no credential,
 * because the paths may belong to other programs on the same server. Throws `CannotProbe` if the server does not
 * respond or has no API.
 */
export async function findApi(given: ProbeClient, listPath: string): Promise<FoundApi> {
  const findings: DoctorFinding[] = [];
  let client = given;
  let fallback: ProbeClient | undefined;
  let first: ProbeResponse | undefined;
  for (const prefix of prefixesOf(given.basePath)) {
    const result = await client.at(client.origin, prefix).send({ path: listPath, credential: 'none' });
    if (result.kind === 'failure') {
      if (first === undefined) throw new CannotProbe(failureText(result));
      continue;
    }
    first ??= result;
    const target = redirectTarget(result, client.origin);
    if (target !== undefined && isSecureTwin(client.origin, target)) {
      findings.push(movedToHttps(target));
      client = client.at(target.origin, client.basePath);
      return withFindings(await findApi(client, listPath), findings);
    }
    if (target !== undefined && /log.?in|sign.?in|auth|sso|cas\b/i.test(target.pathname)) {
      fallback ??= client.at(client.origin, prefix);
      findings.push(loginRedirect(target));
    }
    const kind = kindOf(result);
    if (kind === 'api') return found(client.at(client.origin, prefix), given, findings);
    if (kind === 'protected') fallback ??= client.at(client.origin, prefix);
  }
  if (fallback !== undefined) return found(fallback, given, findings);
  const { status = 0 } = first ?? {};
  throw new CannotProbe(
    `no API was found: ${given.basePath}${listPath} gets ${status}; ${statusHint(status) ?? 'check the base path'}`,
  );
}

/** Returns the given base path without `/services/v2`, then its parents, then the common prefixes. */
function prefixesOf(basePath: string): readonly string[] {
  const own = basePath.replace(/\/services(?:\/.*)?$/, '');
  const segments = own.split('/').slice(1);
  const parents = segments.map((_, at) => `/${segments.slice(0, at).join('/')}`.replace(/\/$/, '')).toReversed();
  return [...new Set([own, ...parents, ...COMMON_PREFIXES])].slice(0, MAX_SEARCH_REQUESTS / 2);
}

function kindOf(response: ProbeResponse): 'api' | 'protected' | 'other' {
  const { status, body } = response;
  const shape = status >= 400 ? errorShape(response) : undefined;
  // The media type may be wrong, but another probe reports that.
  if (status === 200 && /^\s*[[{]/.test(body.toString('latin1', 0, 20))) return 'api';
  if (shape === 'error' || shape === 'errors.message') return 'api';
  return status === 401 || status === 403 ? 'protected' : 'other';
}

function redirectTarget({ status, headers }: ProbeResponse, origin: string): URL | undefined {
  const [location] = valuesOf(headers, 'location');
  if (status < 300 || status >= 400 || location === undefined || !URL.canParse(location, origin)) return undefined;
  return new URL(location, origin);
}

const isSecureTwin = (origin: string, target: URL) =>
  origin.startsWith('http:') && target.protocol === 'https:' && target.hostname === new URL(origin).hostname;

function found(client: ProbeClient, given: ProbeClient, findings: readonly DoctorFinding[]): FoundApi {
  const isMoved = client.basePath !== given.basePath;
  return {
    client,
    facts: [`The API is at ${client.origin}${client.basePath}/services/v2.`],
    findings: isMoved ? [...findings, otherPath(client, given)] : findings,
  };
}

const withFindings = (api: FoundApi, findings: readonly DoctorFinding[]): FoundApi => ({
  ...api,
  findings: [...findings, ...api.findings],
});

const movedToHttps = (target: URL): DoctorFinding => ({
  severity: 'high',
  text: `The server redirects to ${target.origin}.`,
  advice:
    'Use the https address: with http, each credential crosses the network unencrypted before the redirect comes.',
});

const loginRedirect = (target: URL): DoctorFinding => ({
  severity: 'medium',
  text: `Without a credential, the server redirects to ${target.pathname}.`,
  advice: 'Clients of the API cannot log in on a page. With errors: normalized, they get a clear error instead.',
});

const otherPath = (client: ProbeClient, given: ProbeClient): DoctorFinding => ({
  severity: 'high',
  text: `The API is not under ${given.basePath === '' ? 'the root' : given.basePath}, but under ${client.basePath === '' ? 'the root' : client.basePath}.`,
  advice: 'Use this address in upstream.url.',
});
