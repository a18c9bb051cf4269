import { CONTRACT_DEFAULTS } from '../contract/contract-options.ts';
import { loadOperations } from '../contract/load-contract.ts';
import type { Operation } from '../model/operation.ts';
import { bySeverity } from '../model/severity.ts';
import { findApi, MAX_SEARCH_REQUESTS } from './find-api.ts';
import {
  CannotProbe,
  type DoctorFinding,
  type Probe,
  type ProbeContext,
  type ReadableList,
  type Recommendation,
} from './probe.ts';
import {
  createProbeClient,
  type ProbeClient,
  type ProbeClientOptions,
  ProbingEnded,
  type ProbeResponse,
} from './probe-client.ts';
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

/** All probes after the search for the API, in order. The one that loads the server most comes last. */
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

/** The settings of an examination. */
export interface ExamineOptions extends Omit<ProbeClientOptions, 'maxRequests'> {
  /** The longest time that an idle connection is watched, in milliseconds. */
  readonly idleMs: number;
  readonly maxConcurrency: number;
  /** Called before each step. */
  readonly onStep: (name: string) => void;
}

/** The result of one step. */
interface DoctorStep {
  readonly name: string;
  readonly facts: readonly string[];
  /** The reason why the probe could not be carried out. Undefined if it was carried out. */
  readonly notDone: string | undefined;
}

/** Everything that an examination found out. */
export interface Examination {
  /** The address of the API that was found. */
  readonly url: string;
  readonly requests: number;
  readonly steps: readonly DoctorStep[];
  /** The findings, worst first. */
  readonly findings: readonly DoctorFinding[];
  readonly recommendations: readonly Recommendation[];
}

/** Returns the operations that probes may request: those that only read and need no id. */
function probedOperations(): readonly Operation[] {
  return loadOperations(CONTRACT_DEFAULTS).filter(
    ({ method, parameters }) => method === 'GET' && parameters.every(({ location }) => location !== 'path'),
  );
}

/** Returns the maximum number of requests that an examination sends. */
export function maxRequests(maxConcurrency: number): number {
  const probes = PROBES.reduce((sum, probe) => sum + probe.requests(maxConcurrency), 0);
  return MAX_SEARCH_REQUESTS + probedOperations().length + probes;
}

/**
 * Examines a server with requests that only read. Throws `CannotProbe` if the server does not respond, is not trusted or
 * has no API.
 */
export async function examine(
  address: { readonly origin: string; readonly basePath: string },
  options: ExamineOptions,
): Promise<Examination> {
  const operations = probedOperations();
  const steps: DoctorStep[] = [];
  const findings: DoctorFinding[] = [];
  const recommendations: Recommendation[] = [];
  const given = createProbeClient(address, { ...options, maxRequests: maxRequests(options.maxConcurrency) });
  const take = (name: string, result: Partial<Awaited<ReturnType<Probe['run']>>>, notDone?: string) => {
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
  const api = await findApi(given, operations[0]?.path ?? '');
  if (api.client.origin !== address.origin || !address.origin.startsWith('https:'))
    await certificate(api.client.origin);
  take('address', api);
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
  // A single failure is normal, because some servers refuse a large head by closing the connection.
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

/** Requests each list once. The best list to request again is a long one that has pages. */
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
