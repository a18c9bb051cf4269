import type { Profile } from '../../engine/contract/api-profile.ts';
import { CONTRACT_DEFAULTS } from '../../engine/contract/contract-options.ts';
import { loadOperations } from '../../engine/contract/load-contract.ts';
import { headerValues } from '../../engine/model/header-pairs.ts';
import type { Operation } from '../../engine/model/operation.ts';
import { bySeverity } from '../../engine/model/severity.ts';
import { trimEndOf } from '../../lib/trim-end.ts';
import type { ServerErrors } from '../../engine/model/server-errors.ts';
import { errorShape } from '../../engine/upstream/failures/normalize-failure.ts';
import { failureHint, statusHint } from '../../engine/model/failure-hints.ts';
import {
  CannotProbe,
  createProbeClient,
  type ProbeClient,
  type ProbeClientOptions,
  type ProbeResponse,
  ProbingEnded,
} from './probe-client.ts';
import type { DoctorFinding, Probe, ProbeContext, ProbeResult, ReadableList } from './probe.ts';
import { examineCertificate } from './probes/certificate.ts';
import { challengeProbe } from './probes/challenge.ts';
import { clockProbe } from './probes/clock-skew.ts';
import { compressionProbe } from './probes/compression.ts';
import { concurrencyProbe } from './probes/concurrency.ts';
import { conditionalProbe } from './probes/conditional-requests.ts';
import { errorProbe } from './probes/error-shapes.ts';
import { keepAliveProbe } from './probes/keep-alive.ts';
import { pageSizeProbe } from './probes/page-sizes.ts';
import { requestSizeProbe } from './probes/request-size.ts';
import { responseProbe } from './probes/response-heads.ts';
import type { Recommendation } from './recommend.ts';

/**
 * All probes to run after the API has been found, in order. The probe that puts the most load on the server is last.
 */
export const PROBES: readonly Probe[] = [
  responseProbe,
  challengeProbe,
  errorProbe,
  compressionProbe,
  conditionalProbe,
  pageSizeProbe,
  requestSizeProbe,
  clockProbe,
  keepAliveProbe,
  concurrencyProbe,
];

/** The settings for a doctor run. */
export interface ExamineOptions extends Omit<ProbeClientOptions, 'maxRequests'> {
  /** The profile of the API that the server should have. */
  readonly profile: Profile;
  /** The maximum time to watch an idle connection, in milliseconds. */
  readonly idleMs: number;
  readonly maxConcurrency: number;
  /** Called before each step. */
  readonly onStep: (name: string) => void;
}

/** The result of one step of a doctor run. */
interface DoctorStep {
  readonly name: string;
  readonly facts: readonly string[];
  /** The reason why the step's probe was not run. Undefined if it was. */
  readonly notDone: string | undefined;
}

/** The result of a doctor run. */
export interface Examination {
  /** The address of the API that was found. */
  readonly url: string;
  readonly requests: number;
  readonly steps: readonly DoctorStep[];
  /** The findings, with the most severe first. */
  readonly findings: readonly DoctorFinding[];
  readonly recommendations: readonly Recommendation[];
}

/** Returns the operations that probes may request: safe operations that need no id. */
function probedOperations(profile: Profile): readonly Operation[] {
  return loadOperations({ ...CONTRACT_DEFAULTS, rules: profile }).filter(
    ({ method, parameters }) => method === 'GET' && parameters.every(({ location }) => location !== 'path'),
  );
}

/** Returns the maximum number of requests that the doctor sends in one run. */
export function maxRequests({ maxConcurrency, profile }: Pick<ExamineOptions, 'maxConcurrency' | 'profile'>): number {
  const probes = PROBES.reduce((sum, probe) => sum + probe.requests(maxConcurrency), 0);
  return MAX_SEARCH_REQUESTS + MAX_CREDENTIAL_REQUESTS + probedOperations(profile).length + probes;
}

/**
 * Examines a server with requests that never change anything. Throws `CannotProbe` if the server does not respond, is
 * not trusted, has no API, or refuses the credential.
 */
export async function examine(
  address: { readonly origin: string; readonly basePath: string },
  options: ExamineOptions,
): Promise<Examination> {
  const { profile } = options;
  const operations = probedOperations(profile);
  const steps: DoctorStep[] = [];
  const findings: DoctorFinding[] = [];
  const recommendations: Recommendation[] = [];
  const given = createProbeClient(address, { ...options, maxRequests: maxRequests(options) });
  const take = (name: string, result: Partial<ProbeResult>, notDone?: string) => {
    steps.push({ name, facts: result.facts ?? [], notDone });
    findings.push(...(result.findings ?? []));
    recommendations.push(...(result.recommendations ?? []));
  };
  const certificate = async (origin: string) => {
    if (!origin.startsWith('https:')) return take('certificate', {}, 'the URL is http');
    options.onStep('certificate');
    const report = await examineCertificate(origin, options);
    take('certificate', report);
    if (!report.isTrusted)
      throw new CannotProbe(report.findings.map(({ text, advice }) => `${text} ${advice}`).join(' '));
    return undefined;
  };

  if (address.origin.startsWith('https:')) await certificate(address.origin);
  options.onStep('address');
  const api = await findApi(given, profile, operations[0]?.path ?? '');
  if (api.client.origin !== address.origin || !address.origin.startsWith('https:'))
    await certificate(api.client.origin);
  take('address', api);
  await requireCredential(api.client, [profile.probePath, operations[0]?.path ?? '']);
  const read = await readLists(api.client, operations);
  const context: ProbeContext = { ...options, client: api.client, operations, ...read };
  for (const { name, run } of PROBES) {
    options.onStep(name);
    try {
      take(name, await run(context));
    } catch (error) {
      if (!(error instanceof CannotProbe) && !(error instanceof ProbingEnded)) throw error;
      take(name, {}, error.message);
    }
  }
  const lost = given.failures();
  // A single failure is normal, because some servers close the connection to refuse a large head.
  if (lost.length > 1) findings.push(unreliable(lost, given.sent()));
  return {
    url: `${api.client.origin}${api.client.basePath}`,
    requests: given.sent(),
    steps,
    findings: findings.toSorted((one, other) => bySeverity(one.severity, other.severity)),
    recommendations,
  };
}

const unreliable = (lost: readonly string[], sent: number): DoctorFinding => ({
  severity: 'high',
  text: `${lost.length} of ${sent} requests got no complete response (${[...new Set(lost)].join(', ')}).`,
  advice: 'Clients get a 502 or 504 for each of them. Look at the log of the server and of the proxies in front of it.',
});

/**
 * Sends the operator's credential to the path of the credential probe and to a list. Throws `CannotProbe` if the server
 * refuses it: everything else would be examined as if by a stranger, and each further request could count as a failed
 * login.
 */
async function requireCredential(client: ProbeClient, paths: readonly [string, string]): Promise<void> {
  if (!client.hasCredential) return;
  const statuses: number[] = [];
  for (const path of paths) {
    const response = await client.send({ path });
    if (response.kind === 'failure') continue;
    if (response.status === 401) throw new CannotProbe(refused(401, path));
    statuses.push(response.status);
  }
  const [first] = statuses;
  if (first !== undefined && statuses.every((status) => status === 403 || (status >= 300 && status < 400)))
    throw new CannotProbe(`${refused(first, paths[1])}; the account must be allowed to use the API`);
}

const refused = (status: number, path: string) =>
  `the server refuses your user name and password (${status} from ${path}): check --user and the password`;

/** The maximum number of requests that check the credential. */
const MAX_CREDENTIAL_REQUESTS = 2;

/**
 * Requests each list once and chooses the one that the probes will request again. Lists with a page count are
 * preferred.
 */
async function readLists(client: ProbeClient, operations: readonly Operation[]) {
  const responses: ProbeResponse[] = [];
  const lists: ReadableList[] = [];
  for (const operation of operations) {
    const response = await client.send({ path: operation.path });
    if (response.kind === 'failure') continue;
    responses.push(response);
    if (response.status === 200 && /^\s*[[{]/.test(response.body.toString('latin1', 0, 20)))
      lists.push({ operation, response });
  }
  const list = lists.find(({ operation }) => operation.paging?.hasPageCount === true) ?? lists[0];
  return { responses, list };
}

/** Path prefixes that are commonly used for the legacy server. */
const COMMON_PREFIXES = ['', '/qa', '/answers', '/community', '/forum', '/api'];

/** The maximum number of requests sent during the search for the API. */
const MAX_SEARCH_REQUESTS = 12;

/** The API's address, and the results of the search for it. */
interface FoundApi {
  /** The client for the address that was found. */
  readonly client: ProbeClient;
  readonly facts: readonly string[];
  readonly findings: readonly DoctorFinding[];
}

/**
 * Searches for the API's base path below the given one, its parent paths, and common prefixes. The requests contain no
 * credential, because these paths may belong to other programs on the server. Throws `CannotProbe` if the server does
 * not respond or has no API.
 */
async function findApi(given: ProbeClient, profile: Profile, listPath: string): Promise<FoundApi> {
  const { basePath } = profile;
  const findings: DoctorFinding[] = [];
  let client = given;
  let fallback: ProbeClient | undefined;
  let first: ProbeResponse | undefined;
  for (const prefix of prefixesOf(given.basePath, basePath)) {
    const result = await client.at(client.origin, prefix).send({ path: listPath, credential: 'none' });
    if (result.kind === 'failure') {
      if (first === undefined) throw new CannotProbe(failureHint(result.facts));
      continue;
    }
    first ??= result;
    const target = redirectTarget(result, client.origin);
    if (target !== undefined && isSecureTwin(client.origin, target)) {
      findings.push(movedToHttps(target));
      client = client.at(target.origin, client.basePath);
      return withFindings(await findApi(client, profile, listPath), findings);
    }
    if (target !== undefined && /log.?in|sign.?in|auth|sso|cas\b/i.test(target.pathname)) {
      fallback ??= client.at(client.origin, prefix);
      findings.push(loginRedirect(target));
    }
    const kind = kindOf(result, profile.serverErrors);
    if (kind === 'api') return found(client.at(client.origin, prefix), given, basePath, findings);
    if (kind === 'protected') fallback ??= client.at(client.origin, prefix);
  }
  if (fallback !== undefined) return found(fallback, given, basePath, findings);
  const { status = 0 } = first ?? {};
  throw new CannotProbe(
    `no API was found: ${given.basePath}${listPath} gets ${status}; ${statusHint(status, basePath) ?? 'check the base path'}`,
  );
}

/** Returns the given base path without the API's own, then its parent paths, then the common prefixes. */
function prefixesOf(given: string, basePath: string): readonly string[] {
  const [, first = ''] = basePath.split('/');
  const ownAt = `${given}/`.indexOf(`/${first}/`);
  const own = ownAt < 0 ? given : given.slice(0, ownAt);
  const segments = own.split('/').slice(1);
  const parents = segments.map((_, at) => `/${segments.slice(0, at).join('/')}`.replace(/\/$/, '')).toReversed();
  return [...new Set([own, ...parents, ...COMMON_PREFIXES])].slice(0, MAX_SEARCH_REQUESTS / 2);
}

function kindOf(response: ProbeResponse, forms: ServerErrors): 'api' | 'protected' | 'other' {
  const { status, body } = response;
  const shape = status >= 400 ? errorShape(response, forms) : undefined;
  // The media type is not checked here, because another probe reports incorrect media types.
  if (status === 200 && /^\s*[[{]/.test(body.toString('latin1', 0, 20))) return 'api';
  if (forms.some(({ name }) => name === shape)) return 'api';
  return status === 401 || status === 403 ? 'protected' : 'other';
}

function redirectTarget({ status, headers }: ProbeResponse, origin: string): URL | undefined {
  const [location] = headerValues(headers, 'location');
  if (status < 300 || status >= 400 || location === undefined || !URL.canParse(location, origin)) return undefined;
  return new URL(location, origin);
}

const isSecureTwin = (origin: string, target: URL) =>
  origin.startsWith('http:') && target.protocol === 'https:' && target.hostname === new URL(origin).hostname;

function found(
  client: ProbeClient,
  given: ProbeClient,
  basePath: string,
  findings: readonly DoctorFinding[],
): FoundApi {
  const isMoved = client.basePath !== given.basePath;
  return {
    client,
    facts: [`The API is at ${client.origin}${client.basePath}${trimEndOf(basePath, '/')}.`],
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
