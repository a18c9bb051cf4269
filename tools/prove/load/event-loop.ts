import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { questionPage } from '../../../bench/pages.ts';
import { toAuthorization } from '../../../src/lib/basic-credentials.ts';
import { grouped, pause, type ProofResult } from '../proof.ts';
import { CALLERS } from './callers.ts';
import { type HostileBody, hostileBodies, hostileUploads, MAX_VALUES } from './hostile-bodies.ts';
import { type GatewayProcess, withScene } from './processes.ts';

/** The options for the scenario. */
export interface EventLoopOptions {
  /** The maximum size of a body in bytes. The gateways allow bodies of this size in both directions. */
  readonly bytes: number;
  /** The longest allowed turn, in milliseconds of CPU time. */
  readonly maxTurnMs: number;
  /** Chooses the bodies to try. */
  readonly chooses?: (what: string) => boolean;
  tick(text: string): void;
}

/** The maximum number of attempts per body. An attempt is repeated if a turn of the event loop took too long. */
const MAX_ATTEMPTS = 4;

const PAGE = '/services/v2/question.json';
const UPLOAD = '/services/v2/users/gdpr/upload.json';
const UNDOCUMENTED = '/services/v2/any.json';
const PROBE = pathToFileURL(join(import.meta.dirname, 'loop-probe.ts')).href;

const CONFIGS = {
  strict: { checks: { responses: 'enforce', permissions: 'report' } },
  observe: { mode: 'observe', checks: { responses: 'report' } },
} as const;

/** The result of sending one hostile body, including the duration of the longest turn of the event loop. */
interface Measured {
  readonly what: string;
  readonly turnMs: number;
  readonly delayMs: number;
}

/**
 * Sends every hostile body to a gateway, once as a request and once as the upstream's response, while the gateway is
 * also serving another client. No turn of the event loop may take longer than allowed.
 */
export async function measureTurns(options: EventLoopOptions): Promise<ProofResult> {
  const { bytes, maxTurnMs, chooses = () => true, tick } = options;
  const hostile = await startHostileUpstream();
  const measured: Measured[] = [];
  const faults: string[] = [];
  try {
    await withScene(async ({ startGateway }) => {
      const bodies = hostileBodies(bytes).filter(([what]) => chooses(what));
      const uploads = hostileUploads(bytes).filter(([what]) => chooses(what));
      const probe = { NODE_OPTIONS: `--import=${PROBE}`, PROBE_FILE: 'probe.json' };
      // One gateway is used for both configurations. Learning is always on, because turning it on requires a restart.
      const shared = {
        upstream: { url: hostile.url, maxResponseBytes: bytes, maxJsonValues: MAX_VALUES },
        listen: { maxBodyBytes: bytes },
        learn: { traffic: true },
      };
      const gateway = await startGateway({ ...shared, ...CONFIGS.strict }, probe);
      // These requests make V8 compile the code before it is measured.
      await warmUp(gateway, hostile, bodies[0]);
      for (const [mode, config] of Object.entries(CONFIGS)) {
        if (!(await gateway.reload({ ...shared, ...config }))) throw new Error(`${mode} cannot be used after a reload`);
        const run = async (what: string, act: () => Promise<number>) => {
          tick(`${mode}: ${what}`);
          const others = serveOthers(gateway);
          const attempt = () =>
            longestTurn(gateway, async () => {
              const status = await act();
              if (status === 500 || status === 0) faults.push(`${mode}: ${what}: status ${status}`);
            });
          let turn = await attempt();
          // Other processes can slow down an attempt, so the attempt with the shortest turn counts.
          for (let attempts = 1; turn.turnMs > maxTurnMs && attempts < MAX_ATTEMPTS; attempts += 1) {
            const again = await attempt();
            if (again.turnMs < turn.turnMs) turn = again;
          }
          const failures = await others.stop();
          if (failures > 0) faults.push(`${mode}: ${what}: ${failures} failed requests of another client`);
          measured.push({ what: `${mode}: ${what}`, ...turn });
        };
        for (const [what, make] of bodies) {
          hostile.body = make();
          const post = { method: 'POST', body: hostile.body };
          await run(`a response with ${what}`, () => send(gateway.port, `${PAGE}?q=hostile`));
          await run(`an undocumented response with ${what}`, () => send(gateway.port, `${UNDOCUMENTED}?q=hostile`));
          await run(`a request with ${what}`, () => send(gateway.port, UPLOAD, post));
        }
        for (const [what, make] of uploads)
          await run(`an upload with ${what}`, () => send(gateway.port, UPLOAD, { method: 'POST', body: make() }));
      }
    });
  } finally {
    await hostile.close();
  }
  for (const { what, turnMs } of measured)
    if (turnMs > maxTurnMs) faults.push(`${what}: a turn of ${turnMs.toFixed(0)} ms`);
  const longest = measured.reduce((most, one) => (one.turnMs > most.turnMs ? one : most));
  const delay = Math.max(...measured.map(({ delayMs }) => delayMs));
  return {
    cases: measured.length,
    faults,
    figures: `bodies of up to ${grouped(bytes)} bytes; longest turn ${longest.turnMs.toFixed(0)} ms (${longest.what}); longest delay ${delay.toFixed(0)} ms`,
  };
}

async function longestTurn(gateway: GatewayProcess, act: () => Promise<void>): Promise<Omit<Measured, 'what'>> {
  await readProbe(gateway);
  await act();
  return readProbe(gateway);
}

/** Reads the result of the probe and starts the next measurement. */
async function readProbe(gateway: GatewayProcess): Promise<Omit<Measured, 'what'>> {
  const file = join(gateway.folder, 'probe.json');
  rmSync(file, { force: true });
  gateway.signal('SIGUSR2');
  for (;;) {
    await pause(2);
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Omit<Measured, 'what'>;
    } catch {
      // The file does not exist yet, or it is incomplete.
    }
  }
}

/**
 * Sends requests from another client, one after another, until `stop` is called. `stop` returns the number of requests
 * that failed.
 */
function serveOthers({ port }: GatewayProcess): { stop(): Promise<number> } {
  let isStopped = false;
  let failed = 0;
  const run = async () => {
    do {
      if ((await send(port, `${PAGE}?q=other`, { name: CALLERS[1] })) !== 200) failed += 1;
      // oxlint-disable-next-line no-unmodified-loop-condition -- stop() changes it
    } while (!isStopped);
  };
  const running = run();
  return {
    async stop() {
      isStopped = true;
      await running;
      return failed;
    },
  };
}

const WARM_UP = 10;

async function warmUp(gateway: GatewayProcess, hostile: HostileUpstream, body: HostileBody | undefined): Promise<void> {
  hostile.body = body?.[1]() ?? Buffer.alloc(0);
  for (let count = 0; count < WARM_UP; count += 1) {
    await send(gateway.port, `${PAGE}?q=hostile${count}`);
    await send(gateway.port, UPLOAD, { method: 'POST', body: hostile.body });
  }
}

interface Sent {
  readonly method?: string;
  readonly body?: Buffer;
  readonly name?: string | undefined;
}

/** Sends a request and reads the response. Returns its status, or 0 if the connection broke. */
function send(
  port: number,
  path: string,
  { method = 'GET', body, name = CALLERS[0] ?? '' }: Sent = {},
): Promise<number> {
  const headers = {
    Authorization: toAuthorization(name, name),
    'Portico-Force': 'true',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': body.length }),
  };
  return new Promise((resolve) => {
    const sent = httpRequest({ port, host: '127.0.0.1', path, method, headers, agent: false }, (response) => {
      response.resume();
      response.on('error', () => undefined);
      response.on('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
    });
    sent.on('error', () => resolve(0));
    sent.end(body);
  });
}

/** An upstream that sends a hostile body for some requests, and a valid page for all others. */
interface HostileUpstream {
  readonly url: string;
  body: Buffer;
  close(): Promise<void>;
}

async function startHostileUpstream(): Promise<HostileUpstream> {
  const valid = questionPage('2k');
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.method === 'POST') reply(response, 201, Buffer.from('{"fileId":1}'));
      else reply(response, 200, request.url?.includes('hostile') === true ? hostile.body : valid);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostile: HostileUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    body: Buffer.alloc(0),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return hostile;
}

function reply(response: ServerResponse, status: number, body: Buffer): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
}
