import { cutoverDrill } from './load/cutover.ts';
import { measureTurns } from './load/event-loop.ts';
import { holdIdleConnections } from './load/idle-connections.ts';
import { killUnderLoad } from './load/kill.ts';
import { overloadProcess, overloadUpstream } from './load/overload.ts';
import { reloadUnderLoad, rollingRestart } from './load/restarts.ts';
import { soak } from './load/soak.ts';
import type { Proof } from './proof.ts';
import { runMutations, runTests } from './run-tests.ts';

/** Creates a row that is proved by running its test files. */
function tests(row: Omit<Proof, 'run'>): Proof {
  return { ...row, run: () => runTests(row.files) };
}

/** The rows of `npm run prove`, in the order in which they run. */
export const PROOFS: readonly Proof[] = [
  tests({
    id: 'upstream-faults',
    holds:
      'Whatever the upstream sends, clients get a valid page or the right 502, 503 or 504, and nothing broken is stored.',
    tried:
      'Scripted servers over real sockets: refusals, resets, truncated, mislabeled, oversized and malformed responses.',
    files: [
      'test/gateway/upstream-failures.test.ts',
      'test/gateway/odd-upstream.test.ts',
      'test/gateway/early-response.test.ts',
      'test/security/truncated-responses.test.ts',
      'test/security/unknown-codings.test.ts',
      'test/security/upstream-heads.test.ts',
      'test/security/html-for-json.test.ts',
      'test/security/oversize.test.ts',
    ],
  }),
  tests({
    id: 'upstream-matrix',
    holds: 'Every fault of the upstream has the right outcome in every situation and mode.',
    tried:
      'A matrix with real sockets: faults × (fresh hit, stale hit, miss, write, passthrough) × (observe, staging, strict).',
    files: ['test/trust/upstream-matrix.test.ts'],
  }),
  tests({
    id: 'upstream-limits',
    holds: 'The upstream never gets more requests than configured, and requests that must wait are refused in time.',
    tried:
      'Deadlines, the concurrency limit and its queue, the circuit, limits on streams, and the retry of a dead connection.',
    files: [
      'test/engine/upstream/create-upstream.test.ts',
      'test/engine/upstream/upstream-gate.test.ts',
      'test/lib/fair-queue.test.ts',
      'test/lib/limiter.test.ts',
      'test/engine/upstream/retries.test.ts',
      'test/engine/upstream/upstream-health.test.ts',
      'test/engine/pipeline/stages/isolate-page.test.ts',
      'test/engine/upstream/connections.test.ts',
    ],
  }),
  tests({
    id: 'several-addresses',
    holds: 'If one address of the upstream fails, no requests are lost as long as another one works.',
    tried: 'Ejection, probes and the choice of addresses, with servers that fail and recover.',
    files: ['test/gateway/several-addresses.test.ts', 'test/engine/upstream/pool/address-pool.test.ts'],
  }),
  tests({
    id: 'hostile-json',
    holds: 'No body blocks the event loop: its depth, size and number of values are limited before it is parsed.',
    tried: 'Deeply nested, huge and repetitive bodies from clients and from the upstream.',
    files: ['test/security/hostile-json.test.ts', 'test/lib/bounded-json.test.ts'],
  }),
  {
    id: 'event-loop',
    holds:
      'With `upstream.maxJsonValues` at 50,000, no body takes more than 50 ms of processor time in one turn of the event loop, so other requests are served in the meantime.',
    tried:
      'Every hostile body of 8 MiB as a request, as a response and as an upload, in strict mode and in observe mode with learning.',
    files: ['tools/prove/load/event-loop.ts', 'test/trust/event-loop.test.ts'],
    run: ({ tick }) => measureTurns({ bytes: 8 * 1024 * 1024, maxTurnMs: 50, tick }),
  },
  tests({
    id: 'raw-requests',
    holds: 'A malformed or ambiguous request is refused, and the upstream never sees a second request in it.',
    tried: 'Raw sockets: every form of framing, smuggling, malformed heads, early ends and slow clients.',
    files: [
      'test/trust/raw-requests.test.ts',
      'test/security/framing.test.ts',
      'test/security/connection-names-framing.test.ts',
      'test/security/smuggling.test.ts',
      'test/security/slow-clients.test.ts',
      'test/engine/http/malformed.test.ts',
    ],
  }),
  tests({
    id: 'random-requests',
    holds: 'Whatever clients send, they never get an internal error, an ill-formed response or another caller’s data.',
    tried:
      'Random scripts of requests in every mode, with a corpus of past failures; raw messages that are sent repeatedly while memory use is watched.',
    files: ['test/trust/fuzz-gateway.test.ts', 'test/trust/raw-endurance.test.ts'],
  }),
  tests({
    id: 'paths-and-values',
    holds: 'No path, parameter or echoed value gets past the contract, into a header or into a page.',
    tried: 'Traversal, encodings, header and markup injection, and names that the program uses itself.',
    files: [
      'test/security/traversal.test.ts',
      'test/security/injection.test.ts',
      'test/security/fields-and-names-in-every-mode.test.ts',
      'test/security/log-injection.test.ts',
      'test/engine/pipeline/undocumented/policy.test.ts',
    ],
  }),
  tests({
    id: 'audience',
    holds: 'No caller gets a page that was stored for another caller, and none can plant a page for others.',
    tried: 'Every operation for several callers; unkeyed headers, forwarding headers and unverified credentials.',
    files: [
      'test/gateway/audience.test.ts',
      'test/security/poisoning.test.ts',
      'test/security/cache-deception.test.ts',
      'test/security/unverified-callers.test.ts',
      'test/engine/cache/audience-guard.test.ts',
    ],
  }),
  tests({
    id: 'guessing',
    holds: 'Passwords cannot be guessed faster than the limits allow, and responses do not reveal which names exist.',
    tried: 'Many attempts by name and by address, unknown names, and exhausted verifiers.',
    files: ['test/security/exhaustion-and-guessing.test.ts', 'test/engine/identity/login-limits.test.ts'],
  }),
  tests({
    id: 'secrets',
    holds: 'No credentials or personal data reach a log, a metric, the ledger, a report or an error.',
    tried: 'Secrets planted in every part of requests and responses, and searched for in every output.',
    files: ['test/security/planted-secrets.test.ts', 'test/security/secrets.test.ts'],
  }),
  tests({
    id: 'starts',
    holds: 'Portico does not start if it would expose secrets or accept demo accounts in front of a real upstream.',
    tried: 'Every secret from a file, secrets that others can read, and demo accounts with a real upstream.',
    files: ['test/engine/config/secrets.test.ts', 'test/engine/load-start.test.ts'],
  }),
  tests({
    id: 'tls',
    holds: 'TLS on the public side accepts only modern handshakes, and certificates are replaced without a restart.',
    tried: 'Real certificates and handshakes, client certificates, slow handshakes, replaced and broken files.',
    files: [
      'test/engine/http/tls-listener.test.ts',
      'test/engine/http/tls-certificate.test.ts',
      'test/gateway/tls.test.ts',
    ],
  }),
  tests({
    id: 'cors',
    holds: 'Only listed origins may read responses in a browser.',
    tried: 'Preflights and requests from listed, unlisted and similar origins; errors and stored pages.',
    files: ['test/features/cors/cors.test.ts'],
  }),
  tests({
    id: 'drain',
    holds: 'A gateway loses no requests when it stops.',
    tried: 'SIGTERM while clients use persistent connections for reads, writes and passthrough.',
    files: ['test/gateway/drain.test.ts'],
  }),
  tests({
    id: 'admin-side',
    holds:
      'Without the token, clients can neither read the console nor make changes, and browsers cannot be tricked into doing so.',
    tried: 'Requests without a token or with a wrong one, other hosts and origins, health and metrics, the console.',
    files: ['test/engine/http/admin-guard.test.ts', 'test/engine/http/admin-app.test.ts'],
  }),
  tests({
    id: 'overrides',
    holds: 'An override of one operation has a reason and an end time, is recorded, and ends on time.',
    tried:
      'Every kind of override, expiry, restarts, damaged files and refused inputs, through the admin side and in the gateway.',
    files: [
      'test/features/levels/overrides.test.ts',
      'test/features/levels/levels-file.test.ts',
      'test/features/levels/former-files.test.ts',
      'test/features/levels/in-force.test.ts',
      'test/features/levels/read-override.test.ts',
      'test/features/levels/overrides-at-work.test.ts',
    ],
  }),
  tests({
    id: 'doctor',
    holds: 'The doctor only reads, stays within its plan, and never sends a credential to another program.',
    tried: 'Scripted servers with each defect, and servers that hang, reset or are not trusted.',
    files: [
      'test/workbench/doctor/probe-client.test.ts',
      'test/workbench/doctor/examine.test.ts',
      'test/workbench/doctor/probes/certificate.test.ts',
      'test/workbench/doctor/probes/concurrency.test.ts',
    ],
  }),
  tests({
    id: 'reload-rules',
    holds:
      'A reload changes everything at once or nothing, and no stored page is served after a change to its meaning.',
    tried:
      'Changed contracts, roles, limits, baselines and cache rules; configurations with errors; keys that need a restart.',
    files: ['test/gateway/reload.test.ts'],
  }),
  {
    id: 'reload',
    holds: 'A reload of the configuration loses no requests.',
    tried:
      'SIGHUP several times per second under load, with changes and with errors, on new and persistent connections.',
    files: ['tools/prove/load/restarts.ts'],
    run: ({ loadSeconds, tick }) => reloadUnderLoad({ seconds: loadSeconds, tick }),
  },
  {
    id: 'rolling-restart',
    holds: 'A rolling restart loses no requests.',
    tried: 'Two processes restart in turn under load; clients connect to those that are ready.',
    files: ['tools/prove/load/restarts.ts'],
    run: ({ loadSeconds, tick }) => rollingRestart({ seconds: loadSeconds * 2, tick }),
  },
  {
    id: 'cutover',
    holds:
      'When a new server fails during a cut-over, the old one serves everybody within a second; no caller changes sides twice, and no page is from the wrong server.',
    tried:
      'A share of 30% over two processes with Redis, of which one restarts; writes; then the new server fails. Each server writes its name into its pages.',
    files: ['tools/prove/load/cutover.ts', 'test/features/cutover/cutover-store.test.ts'],
    run: ({ tick }) => cutoverDrill({ seconds: 5, tick }),
  },
  {
    id: 'overloaded-upstream',
    holds:
      'At three times the upstream’s capacity, Portico uses that capacity and immediately refuses all other requests.',
    tried: 'Requests for different pages at three times the measured peak; the admin side is used meanwhile.',
    files: ['tools/prove/load/overload.ts'],
    run: ({ loadSeconds, tick }) => overloadUpstream({ seconds: loadSeconds, tick }),
  },
  {
    id: 'overloaded-process',
    holds: 'At three times its own capacity, Portico keeps working at its peak, and the admin side stays usable.',
    tried: 'Requests for stored pages at three times the measured peak over 256 connections.',
    files: ['tools/prove/load/overload.ts'],
    run: ({ loadSeconds, tick }) => overloadProcess({ seconds: loadSeconds, tick }),
  },
  {
    id: 'idle-connections',
    holds: 'Idle connections cost a known amount of memory, do not affect other clients, and are closed in time.',
    tried: '10,000 connections that have each sent one request.',
    files: ['tools/prove/load/idle-connections.ts'],
    run: ({ tick }) => holdIdleConnections({ connections: 10_000, keepAliveSeconds: 30, tick }),
  },
  {
    id: 'killed',
    holds:
      'After a crash, every file is intact, the ledger has lost at most one second, and no confirmed write is lost.',
    tried: 'SIGKILL under load at different times, each followed by a restart with the same files.',
    files: ['tools/prove/load/kill.ts'],
    run: ({ loadSeconds, tick }) => killUnderLoad({ kills: 5, seconds: loadSeconds / 2, lossMs: 1000, tick }),
  },
  {
    id: 'soak',
    holds: 'Under a long load with faults, nothing leaks, is lost or reaches the wrong caller.',
    tried:
      'Half the measured peak with upstream faults, writes, violations, denied callers, aborts and reloads every 10 s.',
    files: ['tools/prove/load/soak.ts'],
    run: soak,
  },
  {
    id: 'guards',
    holds: 'The tests notice when a guard is missing.',
    tried: 'Each guard is removed from a copy of the sources; a test must then fail.',
    files: ['tools/mutations/table.ts'],
    run: runMutations,
  },
];
