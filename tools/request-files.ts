import { once, EventEmitter } from 'node:events';
import { openSync } from 'node:fs';
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import { Session, type Profiler } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadSettings } from '../src/config/load-settings.ts';
import { withUpstreamUrl } from '../src/config/settings.ts';
import { createGateway } from '../src/gateway.ts';
import { type ByteDestination, bytesTo, createLineBatch } from '../src/telemetry/logs.ts';

/*
 * Prints, as JSON, the files in `src` whose functions run during one request: once for a cache hit, and once for a miss
 * whose response is validated and stored. This is a separate program because precise coverage slows down the
 * whole process.
 */

/** The paths under `src`, in alphabetical order. */
export interface RequestFiles {
  readonly hit: readonly string[];
  readonly miss: readonly string[];
}

const WARM_UP = 5;
/** Background work may happen to run during one request but is unlikely to run during every one of several requests. */
const REPETITIONS = 3;
const SOURCES = pathToFileURL(join(import.meta.dirname, '..', 'src')).href;
const AUTHORIZATION = `Basic ${Buffer.from('admin:admin').toString('base64')}`;

/** Starts a gateway in strict mode in front of a minimal upstream, and measures requests for pages of questions. */
async function measureRequestFiles(): Promise<RequestFiles> {
  const upstream = createServer((req, res) => {
    const page = Number(new URL(req.url ?? '', 'http://upstream').searchParams.get('page'));
    res.setHeader('Content-Type', 'application/json').end(questionPage(page));
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const log = new EventEmitter();
  const settings = loadSettings({ env: {}, cwd: tmpdir(), given: CONFIG });
  const gateway = await createGateway(withUpstreamUrl(settings, originOf(upstream.address())), {
    env: {},
    logStream: createLineBatch(observed(bytesTo(openSync(devNull, 'w')), log)),
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

  /** Sends one request on the only connection. Resolves when the request's log line has been written. */
  const call = async (page: number, outcome: RegExp) => {
    await session.post('Profiler.takePreciseCoverage');
    const logged = once(log, 'lines');
    const path = `/services/v2/question.json?page=${page}&pageSize=1`;
    const sent = request(`${gateway.publicUrl}${path}`, { agent, headers: { Authorization: AUTHORIZATION } });
    const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
    await once(response.resume(), 'close');
    await logged;
    const { statusCode, headers } = response;
    const found = [statusCode, headers['cache-status'], headers['contract-status']].join(' ');
    if (!outcome.test(found)) throw new Error(`${path}: ${found}`);
    return enteredFiles((await session.post('Profiler.takePreciseCoverage')).result);
  };
  const measure = async (nextPage: () => number, outcome: RegExp) => {
    for (let warm = 0; warm < WARM_UP; warm += 1) await call(nextPage(), outcome);
    let files = await call(nextPage(), outcome);
    for (let again = 1; again < REPETITIONS; again += 1) files = files.intersection(await call(nextPage(), outcome));
    return [...files].sort();
  };
  try {
    let page = 1;
    const miss = await measure(() => (page += 1), /^200 .*stored conforming$/);
    return { hit: await measure(() => page, /^200 portico; hit/), miss };
  } finally {
    session.disconnect();
    agent.destroy();
    await gateway.close();
    upstream.close();
  }
}

const CONFIG = {
  mode: 'strict',
  roles: { file: join(import.meta.dirname, '..', 'config', 'roles.yaml') },
  listen: { port: 0, adminPort: 0 },
  ledger: { file: ':memory:' },
  ladder: { file: ':memory:' },
  overrides: { file: ':memory:' },
  learn: { file: ':memory:' },
};

const ran = ({ ranges: [range] }: Profiler.FunctionCoverage) => range && range.startOffset > 0 && range.count > 0;

/**
 * Returns the files in `src` whose functions ran. The body of a module, which starts at offset 0, does not count as a
 * function.
 */
function enteredFiles(coverage: readonly Profiler.ScriptCoverage[]): Set<string> {
  return new Set(
    coverage
      .filter(({ url, functions }) => url.startsWith(SOURCES) && functions.some(ran))
      .map(({ url }) => url.slice(SOURCES.length + 1)),
  );
}

/** Returns a page with one question that conforms to the contract. */
function questionPage(page: number): string {
  const question = {
    id: page,
    type: 'question',
    creationDate: 1_700_000_000_000,
    creationDateFormatted: '11/14/2023 10:13 PM',
    title: `Question ${page}`,
    body: 'text',
    bodyAsHTML: '<p>text</p>',
    author: { id: 300, username: 'user0', reputation: 11 },
    lastEditedAction: page,
    activeRevisionId: page,
    revisionIds: [page],
    lastActiveUserId: 300,
    lastActiveDate: 1_700_000_005_000,
    originalParentId: null,
    attachments: [],
    childrenIds: [],
    commentIds: [],
    marked: false,
    topics: [],
    primaryContainerId: 7,
    containerIds: [7],
    slug: `question-${page}`,
    wiki: false,
    score: 0,
    depth: 0,
    viewCount: 0,
    upVoteCount: 0,
    downVoteCount: 0,
    nodeStates: [],
    answers: [],
    answerCount: 0,
  };
  const list = [question];
  const counts = { page, pageSize: 1, pageCount: 40, listCount: 1, totalCount: 40 };
  return JSON.stringify({ name: '', sort: 'newest', ...counts, sorts: ['newest'], list });
}

/** Forwards bytes, and emits `lines` for each chunk that it receives. */
function observed(destination: ByteDestination, log: EventEmitter): ByteDestination {
  return {
    write: (bytes) => {
      destination.write(bytes);
      log.emit('lines');
    },
  };
}

function originOf(address: string | AddressInfo | null): string {
  return `http://127.0.0.1:${(address as AddressInfo).port}`;
}

if (import.meta.main) console.log(JSON.stringify(await measureRequestFiles()));
