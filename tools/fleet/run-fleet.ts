import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCpuTime } from '../../bench/process-usage.ts';
import { freePort } from '../../bench/free-port.ts';
import { type GatewayProcess, type ProcessGroup, startGateway, withProcesses } from '../prove/load/processes.ts';
import { pause } from '../prove/proof.ts';
import { type FillEvent, now, type Window, type WriteEvent } from './events.ts';
import { createSeen, type Seen, startCallers, startProber } from './load.ts';
import { type Programs, type RedisProcess, startBalancer, startFleetUpstream, startRedis } from './programs.ts';
import type { UpstreamLog } from './upstream.ts';
import { createWorkload, fleetOperations, fleetRoles, type Workload } from './workload.ts';

/** The settings of one run. */
export interface FleetSettings {
  readonly gateways: number;
  readonly callers: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly writeShare: number;
  readonly seed: number;
  readonly freshSeconds: number;
  readonly staleSeconds: number;
  /** The final share of a page's freshness lifetime. During this time, a gateway may refresh the page early. */
  readonly earlyRefresh: number;
  readonly maxUnsyncedSeconds: number;
  readonly upstreamMs: readonly [from: number, to: number];
  /** Whether a gateway is killed and Redis is restarted during the run. */
  readonly disturbed: boolean;
  /** Whether to send additional writes to measure how quickly purges arrive. */
  readonly probes: boolean;
  /** How long the gateways are observed before they receive requests. By default, 2 seconds. */
  readonly idleSeconds?: number;
  /** The run continues until this function returns true, even if that takes longer than `seconds`. */
  readonly until?: (seen: Seen) => boolean;
}

/** The costs of one steady window. */
export interface WindowCosts {
  readonly seconds: number;
  /** The total number of finished requests, and the CPU time (in milliseconds) and finished requests per gateway. */
  readonly requests: number;
  readonly gatewayCpuMs: readonly number[];
  readonly requestsOf: readonly number[];
  readonly redisCpuMs: number;
  /** The number of commands that gateways sent to Redis, and how many of them received no reply. */
  readonly sent: number;
  readonly unanswered: number;
  /** The number of Redis commands by name. Commands inside scripts are included; this tool's commands are not. */
  readonly commands: ReadonlyMap<string, number>;
}

/** When each disturbance began and ended. */
export interface Disturbances {
  readonly killedAt: number;
  readonly restartedAt: number;
  readonly redisGoneAt: number;
  readonly redisBackAt: number;
}

/** Everything that a run recorded. */
export interface FleetRun {
  readonly settings: FleetSettings;
  readonly workload: Workload;
  readonly seen: Seen;
  readonly writes: readonly WriteEvent[];
  readonly fills: readonly FillEvent[];
  /** Writes that took effect even though the client received no response. */
  readonly unanswered: UpstreamLog['effects'];
  readonly unexpected: readonly string[];
  readonly steady: readonly Window[];
  readonly costs: readonly WindowCosts[];
  readonly disturbances: Disturbances | undefined;
  readonly requests: number;
  /** How often the balancer retried a request on another gateway. Undefined if the balancer does not count this. */
  readonly repeated: number | undefined;
  readonly rssBytes: readonly number[];
  readonly redisBytes: number;
  /** The Redis commands per second that a gateway sends while it receives no requests. */
  readonly idleCommandsPerSecond: number;
  /** The size of the largest page in the load, in bytes. */
  readonly pageBytes: number;
  /** The last lines that gateways wrote to standard error. */
  readonly errors: string;
}

/** Returns how many seconds after the start of the run a window begins. By then, every page has been fetched once. */
export function settleSeconds(freshSeconds: number): number {
  return freshSeconds + 2;
}

const IDLE_SECONDS = 2;
/** The minimum number of responses in a window. With no responses, the cost of a request cannot be computed. */
const MIN_RESPONSES = 20;

/**
 * How long a page may be served after its freshness lifetime if the upstream fails. The page remains stored for this
 * long.
 */
export const STALE_IF_ERROR_SECONDS = 60;

/** Runs a fleet under load. */
export function runFleet(settings: FleetSettings, programs: Programs, say: (text: string) => void): Promise<FleetRun> {
  return withProcesses(async (group) => {
    const workload = createWorkload();
    const upstream = await startFleetUpstream(group);
    await upstream.read({ delayMs: settings.upstreamMs });
    const redis = await startRedis(group, programs.redis);
    const gateways = await startGateways(group, settings, workload, { upstream: upstream.url, redis: redis.port });
    const balancer = await startBalancer(group, programs.balancer, gateways);
    say(`${gateways.length} gateways, Redis ${redis.port}, ${programs.balancer.kind} ${balancer.port}`);
    const alive = new Set(gateways);
    const meter = createMeter(gateways, redis);

    await pause(500);
    const idle = await meter.read();
    await pause((settings.idleSeconds ?? IDLE_SECONDS) * 1000);
    const idleCosts = costsBetween(idle, await meter.read());
    const idleCommandsPerSecond = sumOf(idleCosts.commands) / idleCosts.seconds / gateways.length;

    const seen = createSeen();
    const load = startCallers({ ...settings, workload, port: balancer.port }, seen);
    const proberParts = {
      workload,
      port: balancer.port,
      gateways: () => gateways.flatMap((one, gateway) => (alive.has(one) ? [{ gateway, port: one.port }] : [])),
      everyMs: 1000,
      giveUpMs: settings.maxUnsyncedSeconds * 1000 + 5000,
    };
    const prober = settings.probes ? startProber(proberParts, seen) : undefined;
    const startedAt = now();
    const endsAt = startedAt + settings.seconds * 1000;
    const steady: Window[] = [];
    const costs: WindowCosts[] = [];
    const responses = () => seen.reads.length + seen.writes.length + seen.failures.length;
    /**
     * Measures a steady window, which starts now and ends at the given instant, or later if there are too few responses
     * by then. Must be called only after the fleet has settled.
     */
    const steadyUntil = async (at: number) => {
      const from = now();
      const before = await meter.read();
      const enough = responses() + MIN_RESPONSES;
      const { until = () => true } = settings;
      while (now() < at || responses() < enough || !until(seen)) {
        await pause(Math.min(5000, Math.max(1, at - now())));
        say(`${load.counts.sent} requests, ${seen.writes.length} writes, ${seen.failures.length} failures`);
      }
      costs.push(costsBetween(before, await meter.read()));
      steady.push({ from, to: now() });
    };

    await pause(settleSeconds(settings.freshSeconds) * 1000);
    let disturbances: Disturbances | undefined;
    if (settings.disturbed) {
      const third = (settings.seconds * 1000) / 3;
      await steadyUntil(startedAt + third);
      const killed = gateways[1] ?? gateways[0];
      if (killed === undefined) throw new Error('there is no gateway');
      alive.delete(killed);
      const killedAt = now();
      await killed.end('SIGKILL');
      say('a gateway was killed');
      await pause(Math.max(3000, third / 10));
      await killed.start();
      alive.add(killed);
      const restartedAt = now();
      say('the gateway was started again');
      await pause(settleSeconds(settings.freshSeconds) * 1000);
      await steadyUntil(startedAt + 2 * third);
      const redisGoneAt = now();
      await redis.kill();
      say('Redis was killed');
      await pause((settings.maxUnsyncedSeconds + 3) * 1000);
      await redis.start();
      const redisBackAt = now();
      say('Redis was started again, empty');
      await pause(settleSeconds(settings.freshSeconds + settings.maxUnsyncedSeconds) * 1000);
      disturbances = { killedAt, restartedAt, redisGoneAt, redisBackAt };
    }
    await steadyUntil(endsAt);
    await prober?.stop();
    const counts = await load.stop();
    const log = await upstream.read();
    const effects = new Map(log.effects.map(({ number, at }) => [number, at]));
    return {
      settings,
      workload,
      seen,
      writes: seen.writes.map((write) => ({ ...write, effectAt: effects.get(write.number) ?? write.respondedAt })),
      fills: log.fills,
      unanswered: log.effects.filter(({ number }) => !seen.writes.some((write) => write.number === number)),
      unexpected: log.unexpected,
      steady,
      costs,
      disturbances,
      requests: counts.sent,
      repeated: await balancer.repeated(),
      rssBytes: gateways.map((gateway) => gateway.rssBytes()),
      redisBytes: Number(/^used_memory:(\d+)/m.exec(await redis.ask('INFO memory'))?.[1]),
      idleCommandsPerSecond,
      pageBytes: Math.max(...workload.pages.map(({ body }) => body.length)),
      errors: gateways.map((gateway) => gateway.errors().slice(-1500)).join('\n'),
    };
  });
}

async function startGateways(
  group: ProcessGroup,
  settings: FleetSettings,
  workload: Workload,
  { upstream, redis }: { readonly upstream: string; readonly redis: number },
): Promise<readonly GatewayProcess[]> {
  const roles = join(group.folder, 'fleet-roles.yaml');
  if (!existsSync(roles)) writeFileSync(roles, await fleetRoles(workload), { mode: 0o600 });
  // The balancer's configuration contains the ports, so a gateway must keep its ports after a restart.
  const listeners: { readonly port: number; readonly adminPort: number }[] = [];
  for (let index = 0; index < settings.gateways; index += 1)
    listeners.push({ port: await freePort(), adminPort: await freePort() });
  return Promise.all(
    listeners.map((listen) =>
      startGateway(group, upstream, {
        config: {
          listen,
          roles: { file: roles },
          contract: { inferred: 'on' },
          cache: {
            freshSeconds: settings.freshSeconds,
            staleWhileRevalidateSeconds: settings.staleSeconds,
            staleIfErrorSeconds: STALE_IF_ERROR_SECONDS,
            // If hits were sampled, a gateway would also fetch pages that it does not store, in order to compare two
            // callers' copies.
            sampleShared: 0,
          },
          operations: fleetOperations(),
          redis: { url: `redis://127.0.0.1:${redis}`, maxUnsyncedSeconds: settings.maxUnsyncedSeconds },
        },
      }),
    ),
  );
}

/** The counters at a given instant. */
interface Reading {
  readonly at: number;
  readonly cpuMs: readonly number[];
  readonly redisCpuMs: number;
  readonly requests: readonly number[];
  readonly sent: readonly number[];
  readonly replied: readonly number[];
  readonly commands: ReadonlyMap<string, number>;
}

function createMeter(gateways: readonly GatewayProcess[], redis: RedisProcess): { read(): Promise<Reading> } {
  // A reader remembers all threads that it has seen, so every process needs its own reader.
  const readers = new Map<number, ReturnType<typeof createCpuTime>>();
  const cpuMs = (pid: number) => {
    const reader = readers.get(pid) ?? createCpuTime();
    readers.set(pid, reader);
    return reader([pid]) / 1e6;
  };
  const metricOf = (pattern: RegExp) => Promise.all(gateways.map((gateway) => gateway.metric(pattern)));
  return {
    read: async () => ({
      at: now(),
      cpuMs: gateways.map((gateway) => cpuMs(gateway.pid())),
      redisCpuMs: cpuMs(redis.pid()),
      requests: await metricOf(/^portico_http_requests_total\{/),
      sent: await metricOf(/^portico_redis_commands_total\{/),
      replied: await metricOf(/^portico_redis_commands_total\{outcome="ok"/),
      commands: commandsIn(await redis.ask('INFO commandstats')),
    }),
  };
}

/** Reads the number of calls to each command. Commands inside scripts are included; this tool's commands are not. */
export function commandsIn(text: string): ReadonlyMap<string, number> {
  const calls = [...text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(
    ([, name = '', count]) => [name, Number(count)] as const,
  );
  return new Map(calls.filter(([name]) => name !== 'info'));
}

function costsBetween(before: Reading, after: Reading): WindowCosts {
  const differences = (of: (reading: Reading) => readonly number[]) =>
    of(after).map((value, index) => value - (of(before)[index] ?? 0));
  const requestsOf = differences(({ requests }) => requests);
  const total = (of: (reading: Reading) => readonly number[]) => differences(of).reduce((sum, one) => sum + one, 0);
  const sent = total((reading) => reading.sent);
  return {
    seconds: (after.at - before.at) / 1000,
    requests: total(({ requests }) => requests),
    sent,
    unanswered: sent - total(({ replied }) => replied),
    requestsOf,
    gatewayCpuMs: differences(({ cpuMs }) => cpuMs),
    redisCpuMs: after.redisCpuMs - before.redisCpuMs,
    commands: new Map([...after.commands].map(([name, calls]) => [name, calls - (before.commands.get(name) ?? 0)])),
  };
}

/** Returns the sum of the counts. */
export function sumOf(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((sum, one) => sum + one, 0);
}
