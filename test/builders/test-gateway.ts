import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings } from '../../src/config/load-settings.ts';
import { withUpstreamUrl } from '../../src/config/settings.ts';
import type { ContractOptions } from '../../src/contract/contract-options.ts';
import type { Contract } from '../../src/contract/contract.ts';
import { loadContract } from '../../src/contract/load-contract.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { callAt, type Answer, type Call } from './call.ts';
import { cleanUpAfterFile } from './clean-up.ts';
import { fastRoles } from './fast-roles.ts';
import { until } from './until.ts';

/** The options of a test gateway. */
export interface TestGatewayOptions {
  /** The upstream behind it. */
  readonly upstream: string | { readonly url: string };
  /** The configuration file, without the ports, which are chosen here. */
  readonly config?: Readonly<Record<string, unknown>>;
  /**
   * True configures the upstream as a real one (`upstream.url`), with its defaults: observe, verifier upstream, no demo
   * accounts. Otherwise it replaces the embedded one: strict, verifier file, demo accounts.
   */
  readonly real?: boolean;
  /** Text of the roles file; replaces the package's. */
  readonly roles?: string;
  /**
   * Removes the demo flag from the accounts of the package's roles file, so that they work with a real upstream too.
   */
  readonly keepAccounts?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** True compiles the contract for this gateway only. */
  readonly ownContract?: boolean;
}

/** A gateway on free ports with its log in memory. */
export interface TestGateway {
  readonly url: string;
  readonly adminUrl: string;
  readonly gateway: Gateway;
  /** All log lines so far. */
  readonly log: readonly string[];
  /** Resolves with a request's access log entry once it is written; everything is recorded by then. */
  lineOf(requestId: string): Promise<Record<string, unknown>>;
  /** The value of a metric series, as `name{labels}`. */
  metric(series: string): Promise<number>;
  call(target: string, call?: Call): Promise<Answer>;
  admin(target: string, call?: Call): Promise<Answer>;
  close(): Promise<void>;
}

/** Starts a gateway in front of an upstream, closed after the file's tests. */
export async function startTestGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const { config = {}, env = {}, clock, random } = options;
  const url = typeof options.upstream === 'string' ? options.upstream : options.upstream.url;
  const folder = mkdtempSync(join(tmpdir(), 'portico-test-'));
  const log: string[] = [];
  try {
    const roles = options.roles ?? (await fastRoles());
    writeFileSync(
      join(folder, 'roles.yaml'),
      options.keepAccounts ? roles.replaceAll('demo: true', 'demo: false') : roles,
    );
    writeFileSync(join(folder, 'portico.yaml'), JSON.stringify(complete(config, options.real ? url : undefined)));
    const loaded = loadSettings({ env: { ...env, PORTICO_CONFIG: join(folder, 'portico.yaml') }, cwd: folder });
    const gateway = await createGateway(options.real ? loaded : withUpstreamUrl(loaded, url), {
      env,
      ...(!options.ownContract && { loadContract: loadShared }),
      logStream: { write: (line: string) => void log.push(line) },
      ...(clock && { clock }),
      ...(random && { random }),
    });
    let closed: Promise<void> | undefined;
    const test: TestGateway = {
      url: gateway.publicUrl,
      adminUrl: gateway.adminUrl,
      gateway,
      log,
      async lineOf(requestId) {
        // Starts at the end: the expected line is among the last ones, and a log may have thousands.
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
      call: (target, call) => callAt(gateway.publicUrl, target, call),
      admin: (target, call) => callAt(gateway.adminUrl, target, { user: null, ...call }),
      close: () => (closed ??= gateway.close()),
    };
    cleanUpAfterFile(test.close);
    return test;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const shared = new Map<string, Contract>();

/** Loads a contract; one without overlays, whose files do not change, is compiled once for all gateways of a worker. */
function loadShared(options: ContractOptions): Contract {
  if (options.folder !== undefined || options.overlays.length > 0) return loadContract(options);
  const key = JSON.stringify(options);
  const contract = shared.get(key) ?? loadContract(options);
  shared.set(key, contract);
  return contract;
}

function complete(config: Readonly<Record<string, unknown>>, url: string | undefined): unknown {
  const { listen, upstream, ledger, ladder, learn } = config as Record<string, object | undefined>;
  const settled = url === undefined ? upstream : { url, ...upstream };
  return {
    ...config,
    // Nothing is written to disk unless a test requests it.
    ledger: { file: ':memory:', ...ledger },
    ladder: { file: ':memory:', ...ladder },
    learn: { file: ':memory:', ...learn },
    listen: { port: 0, adminPort: 0, drainSeconds: 1, ...listen },
    ...(settled && { upstream: settled }),
  };
}
