import { beforeAll, describe, expect, it } from 'vitest';
import { holdIdleConnections } from '../../tools/prove/load/idle-connections.ts';
import { killUnderLoad } from '../../tools/prove/load/kill.ts';
import { overloadProcess, overloadUpstream } from '../../tools/prove/load/overload.ts';
import type { RunScene } from '../../tools/prove/load/processes.ts';
import { reloadUnderLoad, rollingRestart } from '../../tools/prove/load/restarts.ts';
import { soak } from '../../tools/prove/load/soak.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { openSharedScenes } from './support/shared-scenes.ts';

/*
 * The load scenarios of `npm run prove`, each run for a second or two without the limits on speed and memory. The
 * remaining limits do not depend on the machine: no page for the wrong caller, no unexpected status, no lost request,
 * no violation missing from the ledger and no damaged file.
 */

const tick = () => undefined;
describe('a gateway under load', () => {
  // Starting a gateway costs more than any of the loads, so the scenarios share gateways where possible.
  let inScene: RunScene;
  beforeAll(async () => {
    const scenes = await openSharedScenes();
    cleanUpAfterFile(scenes.close);
    ({ inScene } = scenes);
  });

  it('refuses what exceeds the capacity of the upstream with 503 and Retry-After, and recovers', async () => {
    // The upstream is so slow that its capacity is the bottleneck, even while other programs keep the machine busy.
    expect((await overloadUpstream({ seconds: 0.5, delayMs: 200, tick }, inScene)).faults).toEqual([]);
  });

  it('serves every request correctly when it is itself overloaded', async () => {
    expect((await overloadProcess({ seconds: 0.25, tick }, inScene)).faults).toEqual([]);
  });

  // The two tests of each pair run at the same time, because the first mostly waits.
  describe('and its restarts', () => {
    // This test leaves two gateways running for the next pair of tests.
    it.concurrent('loses no request in a rolling restart', async () => {
      const { cases, faults } = await rollingRestart({ seconds: 1, perSecond: 60, restarts: 1, tick }, inScene);
      expect(faults).toEqual([]);
      expect(cases).toBeGreaterThan(20);
    });

    it.concurrent('leaves every file intact when it is killed, and starts again with them', async () => {
      const { faults, figures } = await killUnderLoad({ kills: 1, seconds: 0.5, lossMs: Infinity, tick });
      expect(faults).toEqual([]);
      expect(figures).toMatch(/intact: ledger\.db, levels\.json/);
    });
  });

  describe('and its connections', () => {
    it.concurrent('serves other clients while many connections are idle, and closes these in time', async () => {
      const { faults } = await holdIdleConnections({ connections: 300, keepAliveSeconds: 2, tick }, inScene);
      expect(faults).toEqual([]);
    });

    // This test stops its gateway, and the next test stops the other one.
    it.concurrent('loses no request when it reloads its configuration again and again', async () => {
      const { cases, faults } = await reloadUnderLoad({ seconds: 0.5, perSecond: 150, tick }, inScene);
      expect(faults).toEqual([]);
      expect(cases).toBeGreaterThan(20);
    });
  });

  it('serves every caller its own pages and records every violation while its upstream fails', async () => {
    const { cases, faults } = await soak({ soakSeconds: 1, loadSeconds: 1, tick }, inScene);
    expect(faults).toEqual([]);
    expect(cases).toBeGreaterThan(20);
  });
});
