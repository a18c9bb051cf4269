import { LISTEN_DEFAULTS } from '../../engine/config/general-options.ts';
import { UPSTREAM_DEFAULTS } from '../../engine/upstream/upstream-options.ts';
import { type AuditRule, foundIf } from './audit-rule.ts';

/** The idle timeout and the response timeout of most load balancers, in seconds. */
const BALANCER_SECONDS = 60;
/** A circuit that opens only after at least this many consecutive failures opens too late to help. */
const CIRCUIT_OFF = 1000;

/** Rules about load balancers, a failing upstream and restarts. */
export const OUTAGE_RULES: readonly AuditRule[] = [
  {
    id: 'outlasts-the-balancer',
    severity: 'medium',
    key: '/upstream/totalTimeoutMs',
    risk: 'Load balancers and clients give up first; Portico and the upstream keep working on requests that nobody is waiting for.',
    fix: `Use less than ${BALANCER_SECONDS} seconds, or raise the timeouts of everything in front of Portico above this value.`,
    find: ({ settings: { upstream } }) =>
      foundIf(upstream.totalTimeoutMs >= BALANCER_SECONDS * 1000, `${upstream.totalTimeoutMs} ms`),
  },
  {
    id: 'keep-alive-too-short',
    severity: 'medium',
    key: '/listen/keepAliveSeconds',
    realOnly: true,
    risk: 'A load balancer reuses a connection while Portico is closing it, and the client gets a 502.',
    fix: `Use more than the idle timeout of the load balancer, which is often ${BALANCER_SECONDS} seconds.`,
    find: ({ settings: { listen } }) =>
      foundIf(listen.keepAliveSeconds <= BALANCER_SECONDS, `${listen.keepAliveSeconds} seconds`),
  },
  {
    id: 'idle-upstream-connections',
    severity: 'medium',
    key: '/upstream/idleTimeoutMs',
    risk: 'The upstream or a firewall closes idle connections first, and requests on them fail.',
    fix: 'Use less than the idle timeout of the server; portico doctor measures it.',
    find: ({ settings: { upstream } }) => foundIf(upstream.idleTimeoutMs > 20_000, `${upstream.idleTimeoutMs} ms`),
  },
  {
    id: 'circuit-off',
    severity: 'medium',
    key: '/upstream/circuit/failures',
    risk: 'While the upstream fails, every request waits for its timeout, and the upstream cannot recover.',
    fix: `Use at most a few dozen failures; the default is ${UPSTREAM_DEFAULTS.circuit.failures}.`,
    find: ({ settings: { upstream, mode } }) =>
      foundIf(!mode.transparent && upstream.circuit.failures >= CIRCUIT_OFF, String(upstream.circuit.failures)),
  },
  {
    id: 'no-lame-duck',
    severity: 'medium',
    key: '/listen/lameDuckSeconds',
    realOnly: true,
    risk: 'At every restart, load balancers still send requests after Portico has stopped listening.',
    fix: `Use a value longer than the interval of the load balancer’s health checks; the default is ${LISTEN_DEFAULTS.lameDuckSeconds}.`,
    find: ({ settings: { listen } }) => foundIf(listen.lameDuckSeconds === 0, '0'),
  },
  {
    id: 'drain-shorter-than-requests',
    severity: 'info',
    key: '/listen/drainSeconds',
    realOnly: true,
    risk: 'At a restart, requests that are allowed to take longer than this are cut off.',
    fix: 'Use at least upstream.totalTimeoutMs, and give the process enough time to end.',
    find: ({ settings: { listen, upstream } }) =>
      foundIf(
        listen.drainSeconds * 1000 < upstream.totalTimeoutMs,
        `${listen.drainSeconds} seconds, while requests may take ${upstream.totalTimeoutMs / 1000}`,
      ),
  },
];
