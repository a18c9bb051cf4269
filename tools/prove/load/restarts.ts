import { grouped, pause, type ProofResult } from '../proof.ts';
import { CALLERS, pageAsk, writeAsk } from './callers.ts';
import { startLoad, totalOf } from './load-client.ts';
import { type GatewayConfig, isReady, RELOADS, untilReloaded, withScene } from './processes.ts';
import { faultsOf, statusText } from './soak.ts';

/** The options for the scenarios. */
export interface RestartOptions {
  readonly seconds: number;
  /** The number of requests due per second. If undefined, each client sends its next request as soon as it is free. */
  readonly perSecond?: number;
  tick(text: string): void;
}

const CONNECTIONS = 16;
/** Some clients open a new connection every few requests; the others keep using one connection. */
const PER_CONNECTION = 20;

function nextAsk(): (client: number) => ReturnType<typeof pageAsk> {
  let number = 0;
  return (client) => {
    number += 1;
    const name = CALLERS[client % CALLERS.length] ?? '';
    return number % 20 === 0 ? writeAsk(name) : pageAsk(name, `key${number % 41}`);
  };
}

/** The metric that counts the requests on the public side since the start of the process. */
const SERVED = /^portico_http_requests_total\{/;

/**
 * The configurations that the reloads read in turn. The last configuration has an error, so the gateway must refuse
 * it.
 */
const RELOADED: readonly GatewayConfig[] = [
  { cache: { freshSeconds: 2 } },
  { upstream: { concurrency: 16 }, listen: { maxTargetBytes: 4096 } },
  {},
  { cache: { freshSeconds: -1 } },
];

/**
 * Reloads the configuration several times per second under load. Every fourth configuration contains an error. No
 * request may be lost or receive an unexpected response.
 */
export function reloadUnderLoad(
  { seconds, perSecond, tick }: RestartOptions,
  inScene = withScene,
): Promise<ProofResult> {
  return inScene(async ({ startGateway }) => {
    const gateway = await startGateway();
    const before = { all: await gateway.metric(RELOADS.all), applied: await gateway.metric(RELOADS.applied) };
    const running = startLoad({
      connections: CONNECTIONS,
      port: () => gateway.port,
      next: nextAsk(),
      perConnection: PER_CONNECTION,
      ...(perSecond !== undefined && { perSecond }),
    });
    const faults: string[] = [];
    const endsAt = performance.now() + seconds * 1000;
    let reloads = 0;
    for (; performance.now() < endsAt || reloads < RELOADED.length; reloads += 1) {
      const next = RELOADED[reloads % RELOADED.length] ?? {};
      gateway.configure(next);
      gateway.signal('SIGHUP');
      if (!(await untilReloaded(gateway, before.all + reloads + 1))) {
        faults.push(`reload ${reloads + 1} did not end`);
        break;
      }
      tick(`${reloads + 1} reloads, ${grouped(running.counts.sent)} requests`);
    }
    const counts = await running.stop();
    faults.push(...faultsOf(counts));
    const applied = (await gateway.metric(RELOADS.applied)) - before.applied;
    const refused = Math.floor(reloads / RELOADED.length);
    if (applied !== reloads - refused) faults.push(`${applied} of ${reloads - refused} valid reloads were applied`);
    const code = await gateway.end('SIGTERM');
    if (code !== 0) faults.push(`the gateway ended with ${code}: ${gateway.errors().slice(-500)}`);
    const duration = ((seconds * 1000) / reloads).toFixed(0);
    return {
      cases: counts.sent,
      faults,
      figures: `${applied} reloads applied, ${refused} refused, one every ${duration} ms; ${statusText(counts)}; ${totalOf(counts.lost)} lost`,
    };
  });
}

/** The options for a rolling restart. */
interface RollingOptions extends RestartOptions {
  /** The minimum number of restarts, even if they take longer than `seconds`. */
  readonly restarts?: number;
}

/**
 * Restarts two gateways in turn under load. The clients behave like a load balancer: they open connections only to a
 * gateway whose `/readyz` returns 200. No request may be lost.
 */
export function rollingRestart(
  { seconds, perSecond, restarts: least = 2, tick }: RollingOptions,
  inScene = withScene,
): Promise<ProofResult> {
  return inScene(async ({ startGateway }) => {
    // The lame-duck period is much longer than the time between the balancer's readiness checks, because a busy machine
    // delays them.
    const config = { listen: { lameDuckSeconds: 4 } };
    const gateways = [await startGateway(config), await startGateway(config)];
    const ready = new Set(gateways);
    let balancing = true;
    const balancer = (async () => {
      // oxlint-disable-next-line no-unmodified-loop-condition -- changed below
      while (balancing) {
        for (const gateway of gateways)
          if (await isReady(gateway.adminPort)) ready.add(gateway);
          else ready.delete(gateway);
        await pause(100);
      }
    })();
    let turn = 0;
    const running = startLoad({
      connections: CONNECTIONS,
      port: () => {
        const open = [...ready];
        turn += 1;
        return open[turn % open.length]?.port ?? 0;
      },
      next: nextAsk(),
      perConnection: PER_CONNECTION,
      ...(perSecond !== undefined && { perSecond }),
    });
    const faults: string[] = [];
    const endsAt = performance.now() + seconds * 1000;
    let restarts = 0;
    while (performance.now() < endsAt || restarts < least) {
      const gateway = gateways[restarts % 2];
      if (gateway === undefined) break;
      const code = await gateway.end('SIGTERM');
      if (code !== 0) faults.push(`a gateway ended with ${code}: ${gateway.errors().slice(-500)}`);
      await gateway.start();
      restarts += 1;
      // The balancer must notice that this gateway is ready, and clients must use it, before the other gateway stops.
      while (!ready.has(gateway) || (await gateway.metric(SERVED)) === 0) await pause(20);
      tick(`${restarts} restarts, ${grouped(running.counts.sent)} requests`);
    }
    const counts = await running.stop();
    balancing = false;
    await balancer;
    faults.push(...faultsOf(counts));
    return {
      cases: counts.sent,
      faults,
      figures: `${restarts} restarts; ${statusText(counts)}; ${totalOf(counts.lost)} lost`,
    };
  });
}
