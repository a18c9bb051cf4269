import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reload } from '../../src/engine/reload.ts';
import { PUBLIC_PASSWORDS } from '../../src/engine/config/secrets.ts';
import { FEATURES } from '../../src/features.ts';
import { readSettings } from '../../src/engine/config/load-settings.ts';
import type { Feature } from '../../src/engine/feature.ts';
import { PORTICO } from '../../src/portico-settings.ts';
import { withUpstreamUrl } from '../../src/engine/config/settings.ts';
import { createGateway, type Gateway } from '../../src/engine/gateway.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { StartFault } from '../../src/engine/model/fault.ts';
import { callAt, type ClientResponse, type Call } from './call.ts';
import { cleanUpAfterFile } from './clean-up.ts';
import './compiled-contract.ts';
import { PATIENT } from './redis-server.ts';
import { fastHash, fastRoles } from './fast-roles.ts';
import { until } from './until.ts';

/** The options for a test gateway. */
export interface TestGatewayOptions {
  /** The gateway's upstream. */
  readonly upstream: string | { readonly url: string };
  /** The contents of the configuration file, except for the ports, which are chosen automatically. */
  readonly config?: Readonly<Record<string, unknown>>;
  /**
   * True if the upstream is configured as a real one (`upstream.url`), with the corresponding defaults: `observe` mode,
   * the `upstream` verifier, and no demo accounts. If false, the upstream replaces the embedded one: `strict` mode, the
   * `file` verifier, and demo accounts.
   */
  readonly real?: boolean;
  /** The content of the roles file, which replaces the package's roles file. */
  readonly roles?: string;
  /** True if the accounts in the roles file are not demo accounts, so that they also work with a real upstream. */
  readonly keepAccounts?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Replaces the timer for the lame-duck period. */
  readonly waitLameDuck?: (milliseconds: number) => Promise<unknown>;
  /**
   * Returns the numbers that determine which hits on shared pages are compared with the caller's own copy. By default,
   * the numbers are constant, so all hits or none are compared, depending on `cache.sampleShared`. With random
   * numbers, the upstream would occasionally receive a request that the test does not expect.
   */
  readonly random?: () => number;
  /** The key of a feature that the gateway does not have. */
  readonly without?: string;
  /** The features that the gateway has besides Portico's. */
  readonly features?: readonly Feature[];
}

/** A gateway on free ports that writes its log to memory. */
export interface TestGateway {
  readonly url: string;
  readonly adminUrl: string;
  readonly gateway: Gateway;
  /** All log lines written so far. */
  readonly log: readonly string[];
  /**
   * Resolves with a request's access log entry once it is written. By then, everything else about the request has also
   * been recorded.
   */
  lineOf(requestId: string): Promise<Record<string, unknown>>;
  /** Returns the value of a metric series, given as `name{labels}`. */
  metric(series: string): Promise<number>;
  /** Returns all series of a metric that has only this label, by the label's value. */
  metrics(name: string, label: string): Promise<Record<string, number>>;
  /** Reloads the gateway with a different configuration, roles file or upstream. Anything not given stays the same. */
  reload(changes?: Pick<TestGatewayOptions, 'config' | 'roles'> & { readonly upstream?: string }): ReturnType<Reload>;
  /** Sends a request to the public side. Calls share their connections. */
  call(target: string, call?: Call): Promise<ClientResponse>;
  /** Sends a request to the admin side. If `call` specifies no user, the request has no credential. */
  admin(target: string, call?: Call): Promise<ClientResponse>;
  close(): Promise<void>;
}

/** Starts a gateway in front of an upstream and closes it after the last test in the file. */
export async function startTestGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const { env = {}, clock, waitLameDuck, random = () => 0.5, features = [] } = options;
  let { config = {}, roles } = options;
  let url = typeof options.upstream === 'string' ? options.upstream : options.upstream.url;
  const folder = mkdtempSync(join(tmpdir(), 'portico-test-'));
  const log: string[] = [];
  const read = async () => {
    mkdirSync(folder, { recursive: true });
    const text = roles ?? (await fastRoles());
    writeFileSync(join(folder, 'roles.yaml'), options.keepAccounts ? await withOwnAccounts(text) : text, {
      mode: 0o600,
    });
    writeFileSync(join(folder, 'portico.yaml'), JSON.stringify(complete(config, options.real ? url : undefined)), {
      mode: 0o600,
    });
    const { settings, faults } = readSettings(
      { env: { ...env, PORTICO_CONFIG: join(folder, 'portico.yaml') }, cwd: folder },
      // The schema of a product is compiled only once.
      features.length === 0 ? PORTICO : { ...PORTICO, features: [...PORTICO.features, ...features] },
    );
    return { settings: options.real ? settings : withUpstreamUrl(settings, url), faults };
  };
  const cleanUp = () => rmSync(folder, { recursive: true, force: true });
  try {
    const { settings, faults } = await read();
    if (faults.length > 0) throw new StartFault(faults);
    let running: Gateway | undefined = await createGateway(settings, {
      env,
      logStream: { write: (line: string) => void log.push(line) },
      readSettings: read,
      ...(clock && { clock }),
      ...(waitLameDuck && { waitLameDuck }),
      random,
      features: [...FEATURES.filter(({ name }) => name !== options.without), ...features],
    });
    let closed: Promise<void> | undefined;
    // Opening a new connection for each call would account for a tenth of the time that the tests spend on requests.
    const agent = new Agent({ keepAlive: true });
    // If idle connections were left open, a closing gateway would wait for a while in case a request is on its way.
    const closeIdle = () => {
      for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy();
    };
    const test: TestGateway = {
      url: running.publicUrl,
      adminUrl: running.adminUrl,
      get gateway() {
        if (running === undefined) throw new Error('the gateway belongs to a file whose tests have ended');
        return running;
      },
      log,
      async lineOf(requestId) {
        // The search runs backward, because the log can be long and the expected line is near its end.
        const find = () =>
          log.findLast((line) => line.includes(`"requestId":"${requestId}"`) && line.includes('"operation"'));
        await until(() => find() !== undefined);
        return JSON.parse(find() ?? '') as Record<string, unknown>;
      },
      async metric(series) {
        const { text } = await test.admin('/metrics');
        const line = text.split('\n').find((one) => one.startsWith(`${series} `));
        return Number(line?.slice(series.length + 1));
      },
      async metrics(name, label) {
        const { text } = await test.admin('/metrics');
        const series = new RegExp(`^${name}\\{${label}="([^"]*)"\\} (.*)$`, 'gm');
        return Object.fromEntries([...text.matchAll(series)].map(([, value = '', count]) => [value, Number(count)]));
      },
      async reload(changes = {}) {
        ({ config = config, roles = roles, upstream: url = url } = changes);
        try {
          return await test.gateway.reload('program');
        } finally {
          cleanUp();
        }
      },
      call: (target, { user = 'admin', ...call } = {}) => {
        const password = options.keepAccounts && user !== null ? { password: ownPassword(user) } : {};
        return callAt(test.url, target, { agent, user, ...password, ...call });
      },
      admin: (target, call) => callAt(test.adminUrl, target, { agent, user: null, ...call }),
      async close() {
        closeIdle();
        return (closed ??= test.gateway.close().finally(cleanUp));
      },
    };
    cleanUpAfterFile(async () => {
      await test.close();
      // A test file's variables exist until its worker ends. The gateway that they refer to must be released earlier.
      running = undefined;
      log.length = 0;
    });
    return test;
  } finally {
    cleanUp();
  }
}

/** Returns the password of an account that is kept. The passwords of the demo accounts are published. */
export const ownPassword = (name: string): string => (PUBLIC_PASSWORDS.includes(name) ? `${name}'s own` : name);

/** Returns a roles file in which the demo accounts are ordinary accounts with passwords of their own. */
async function withOwnAccounts(roles: string): Promise<string> {
  let text = roles.replaceAll('demo: true', 'demo: false');
  for (const name of PUBLIC_PASSWORDS) text = text.replaceAll(await fastHash(name), await fastHash(ownPassword(name)));
  return text;
}

function complete(config: Readonly<Record<string, unknown>>, url: string | undefined): unknown {
  const { listen, upstream, ledger, levels, ladder, overrides, learn, redis } = config as Record<
    string,
    object | undefined
  >;
  // Only the startup probe's own tests turn the probe on, because many other tests count the requests that reach the
  // upstream.
  const settled = url === undefined ? upstream : { url, startupProbe: false, ...upstream };
  return {
    ...config,
    // Nothing is written to disk unless a test requests it.
    ledger: { file: ':memory:', ...ledger },
    ...(ladder === undefined && overrides === undefined && { levels: { file: ':memory:', ...levels } }),
    learn: { file: ':memory:', ...learn },
    listen: { port: 0, adminPort: 0, drainSeconds: 1, ...listen },
    ...(settled && { upstream: settled }),
    ...(redis && { redis: { ...PATIENT, ...redis } }),
  };
}
