import { type AddressInfo, createServer, type Socket } from 'node:net';
import { loadOperations } from '../../../src/engine/contract/load-contract.ts';
import { CONTRACT_DEFAULTS } from '../../../src/portico-settings.ts';
import type { Probe, ProbeContext, ProbeResult } from '../../../src/workbench/doctor/probe.ts';
import { createProbeClient, type ProbeClientOptions } from '../../../src/workbench/doctor/probe-client.ts';
import { PROFILE } from '../../../src/profile/profile.ts';
import { parseUpstreamUrl } from '../../../src/engine/upstream/upstream-url.ts';
import { cleanUpAfterFile } from '../../builders/clean-up.ts';
import { type FakeHandler, startFakeUpstream } from '../../builders/fake-upstream.ts';

/** The path of the list that the probes request. */
export const LIST = '/services/v2/question.json';

/** The operator's credential. */
export const AUTHORIZATION = `Basic ${Buffer.from('checker:correct horse').toString('base64')}`;

const operations = loadOperations(CONTRACT_DEFAULTS).filter(({ path }) => path === LIST);

/** Returns a page of a list of 300 items. A page contains at most `cap` items. */
export function page(query: URLSearchParams, cap = 1000): object {
  const size = Math.min(Number(query.get('pageSize') ?? 15), cap);
  const list = Array.from({ length: Math.min(size, 300) }, (_, id) => ({ id }));
  return { list, totalCount: 300, page: 1, pageSize: size, pageCount: Math.ceil(300 / size) };
}

/** A server without defects. It has one account and returns errors in a known form. */
export const healthy: FakeHandler = ({ path, query, headers }) => {
  if (headers.authorization !== AUTHORIZATION)
    return {
      status: 401,
      headers: { 'WWW-Authenticate': 'Basic realm="Real Answers", charset="UTF-8"' },
      json: { error: 'Log in.' },
    };
  if (query.get('page') === 'x') return { status: 400, json: { error: 'Invalid page.' } };
  return path.endsWith(LIST) ? { json: page(query) } : { status: 404, json: { error: 'Not found.' } };
};

/** Creates a client for a server. */
export function clientOf(url: string, options: Partial<ProbeClientOptions> = {}) {
  const parsed = parseUpstreamUrl(url, { source: '', pointer: '' });
  if (!('address' in parsed)) throw new Error('invalid URL');
  const { signal } = new AbortController();
  const standard = { authorization: AUTHORIZATION, maxRequests: 500, delayMs: 0, timeoutMs: 10_000, signal };
  return createProbeClient(parsed.address, { ...standard, ...options });
}

/** Runs one probe against a server with a defect. */
export async function runProbe(probe: Probe, handler: FakeHandler, limits: Partial<ProbeContext> = {}) {
  const server = await startFakeUpstream(handler);
  return runProbeAt(server.url, probe, limits);
}

/** Runs one probe against a running server. */
export async function runProbeAt(url: string, probe: Probe, limits: Partial<ProbeContext> = {}) {
  const client = clientOf(url);
  const [operation] = operations;
  const response = await client.send({ path: LIST });
  if (operation === undefined || response.kind === 'failure') throw new Error('no list');
  return probe.run({
    profile: PROFILE,
    client,
    authorization: AUTHORIZATION,
    operations,
    list: { operation, response },
    responses: [response],
    idleMs: 300,
    maxConcurrency: 2,
    signal: new AbortController().signal,
    ...limits,
  });
}

/** Returns a handler that adds headers to the healthy server's responses. */
export const withHeaders =
  (headers: Readonly<Record<string, string | readonly string[]>>): FakeHandler =>
  async (request, response) => {
    const usual = await healthy(request, response);
    return { ...usual, headers: { ...usual?.headers, ...headers } };
  };

/** Returns the findings of a probe, each with its severity. */
export const texts = ({ findings = [] }: ProbeResult) => findings.map(({ severity, text }) => `${severity}: ${text}`);

/** Returns the value that a probe recommends for a key. */
export const valueOf = ({ recommendations = [] }: ProbeResult, wanted: string) =>
  recommendations.find(({ key }) => key === wanted)?.value;

/** Starts a server that passes each raw socket to the test. */
export async function startRawServer(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUpAfterFile(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
