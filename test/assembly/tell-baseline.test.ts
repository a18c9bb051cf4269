import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleAnswer } from '../builders/example-answer.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway } from '../builders/test-gateway.ts';

const DRIFTED = '/services/v2/comment/271.json';
const drifting = () => startFakeUpstream(() => ({ json: { ...(exampleOf as object), id: 'text' } }));
const exampleOf = { body: 'x' };

describe('a baseline that is configured', () => {
  it('lets what it accepts pass under enforce until it expires, and the ledger has it all the same', async () => {
    const upstream = await drifting();
    const file = join(tempFolder(), 'baseline.yaml');
    const clock = createTestClock();
    const gateway = await startTestGateway({
      upstream,
      clock,
      config: { contract: { baseline: file }, checks: { responses: 'enforce' } },
    });
    const { baseline, services } = gateway.gateway;
    const { ledger } = services;
    let asked = 0;
    expect(gateway.log.join('')).toContain('there is no baseline file');
    const ask = async () => {
      const requestId = `asked-${(asked += 1)}`;
      const { status } = await gateway.call(DRIFTED, { user: 'admin', headers: { 'X-Request-Id': requestId } });
      await gateway.lineOf(requestId);
      return status;
    };
    expect(await ask()).toBe(502);
    const before = (await ledger.snapshot()).entries;
    expect(before.length).toBeGreaterThan(0);
    for (const { fingerprint } of before)
      await baseline?.accept({ fingerprint, reason: 'r', owner: 'o', expires: '2026-05-04', summary: undefined });
    expect(await ask()).toBe(200);
    const after = (await ledger.snapshot()).entries;
    expect(after.map(({ count }) => count)).toEqual(before.map(({ count }) => count * 2));
    clock.advance(24 * 3600);
    expect(await ask()).toBe(502);
  });

  it('says which of its entries no longer hold', async () => {
    const upstream = await startFakeUpstream(exampleAnswer);
    const file = join(tempFolder(), 'baseline.yaml');
    const entry = { fingerprint: 'a000000000000001', reason: 'r', owner: 'o@example.org', expires: '2020-01-01' };
    writeFileSync(file, JSON.stringify({ accepted: [entry] }));
    const gateway = await startTestGateway({ upstream, config: { contract: { baseline: file } } });
    const line = gateway.log.find((one) => one.includes('its entry has expired'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ fingerprint: 'a000000000000001', expires: '2020-01-01' });
    expect(line).not.toContain('example.org');
  });

  it('keeps the gateway from starting where it is wrong', async () => {
    const upstream = await startFakeUpstream(exampleAnswer);
    const file = join(tempFolder(), 'baseline.yaml');
    writeFileSync(file, 'accepted:\n  - reason: x\n');
    await expect(startTestGateway({ upstream, config: { contract: { baseline: file } } })).rejects.toThrow(
      /baseline\.yaml:2 \/accepted\/0: must have fingerprint/,
    );
  });
});
