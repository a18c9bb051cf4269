import { expect, it } from 'vitest';
import { assess, figuresOf } from '../../tools/fleet/assess.ts';
import { cacheResult } from '../../tools/fleet/checks.ts';
import { runFleet } from '../../tools/fleet/run-fleet.ts';
import { needsProgram } from '../builders/needs-program.ts';

/** The rows whose bounds do not depend on the machine's speed. */
const CERTAIN = /^failed requests|^reads more than 30 s|^pages that belong to another caller/;

/*
 * A short run of `npm run fleet`, without disturbances. Bounds that depend on the machine's speed are not checked,
 * because other tests run at the same time.
 */
needsProgram('redis', 'a fleet behind a balancer', (redis) => {
  needsProgram('nginx', 'with nginx', (nginx) => {
    it('serves callers their own pages, stores them in Redis, and shows every write', async () => {
      const run = await runFleet(
        {
          gateways: 2,
          callers: 16,
          seconds: 3,
          idleSeconds: 0.5,
          perSecond: 40,
          writeShare: 0.04,
          seed: 1,
          freshSeconds: 1,
          staleSeconds: 1,
          earlyRefresh: 0.1,
          maxUnsyncedSeconds: 30,
          upstreamMs: [5, 10],
          disturbed: false,
          probes: true,
          // On a busy machine, some of the expected results appear only after a while.
          until: ({ reads, writes, refused }) => {
            const found = new Set(reads.map(({ cache }) => cacheResult(cache)));
            return found.has('memory') && found.has('shared') && writes.length > 0 && refused > 0;
          },
        },
        { redis, balancer: { kind: 'nginx', path: nginx } },
        () => undefined,
      );
      const rows = assess(run).filter(({ what }) => CERTAIN.test(what));
      expect(rows).toHaveLength(3);
      expect(rows.filter(({ holds }) => holds !== true)).toEqual([]);
      const { commandsPerRequest } = figuresOf(run);
      const { results } = figuresOf({ ...run, steady: [{ from: 0, to: Infinity }] });
      expect(results.memory).toBeGreaterThan(0);
      expect(results.shared).toBeGreaterThan(0);
      expect(commandsPerRequest).toBeGreaterThan(0);
      expect(run.writes.length).toBeGreaterThan(0);
      expect(run.seen.arrivals.filter(({ ms }) => ms === undefined)).toEqual([]);
      expect(run.seen.refused).toBeGreaterThan(0);
    });
  });
});
