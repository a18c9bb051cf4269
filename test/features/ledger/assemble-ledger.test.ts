import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { assembleLedger } from '../../../src/features/ledger/assemble-ledger.ts';
import { loadSettings } from '../../../src/portico-settings.ts';
import { withUpstreamUrl } from '../../../src/engine/config/settings.ts';
import { packageRoot } from '../../../src/lib/package-root.ts';
import { assembleGateway, createGateway } from '../../../src/engine/gateway.ts';
import { LedgerStoreError } from '../../../src/features/ledger/ledger-store.ts';
import { createKindOf } from '../../../src/engine/model/violation-kind.ts';
import { type LedgerLocation, type LedgerWriter } from '../../../src/features/ledger/store/select-store.ts';
import { StartFault } from '../../../src/engine/model/fault.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { LEDGER_DEFAULTS, memoryStore } from '../../builders/ledger.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway } from '../../builders/test-gateway.ts';

describe('the ledger of a gateway', () => {
  const roles = { file: join(packageRoot, 'config', 'roles.yaml') };
  const LISTEN = { port: 0, adminPort: 0, drainSeconds: 1 };

  /** Returns settings for running Portico in a separate folder. */
  function settingsIn(folder: string, config: object = {}, env: Record<string, string> = {}) {
    const file = join(folder, 'portico.yaml');
    writeFileSync(file, JSON.stringify({ listen: LISTEN, roles, ...config }));
    return withUpstreamUrl(loadSettings({ env: { ...env, PORTICO_CONFIG: file }, cwd: folder }), 'http://127.0.0.1:9');
  }

  const faultsOf = async (settings: ReturnType<typeof settingsIn>) => {
    try {
      const gateway = await createGateway(settings, { env: {}, logStream: { write: () => undefined } });
      await gateway.close();
      return [];
    } catch (error) {
      if (error instanceof StartFault) return error.faults;
      throw error;
    }
  };

  it('is not on disk before the gateway runs', async () => {
    const folder = tempFolder();
    const assembly = assembleGateway(settingsIn(folder), { env: {}, logStream: { write: () => undefined } });
    await assembly.close();
    expect(existsSync(join(folder, '.portico'))).toBe(false);
  });

  it('continues counting after a restart', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const config = { ledger: { file: join(tempFolder(), 'ledger.db') }, release: '2026.11' };
    for (let run = 1; run <= 2; run++) {
      const gateway = await startTestGateway({ upstream, config });
      expect(await gateway.metric('portico_ledger_entries')).toBe(run - 1);
      const headers = { 'X-Request-Id': `run-${run}` };
      const response = await gateway.call('/services/v2/question.json?colour=blue', { user: 'alice', headers });
      expect(response.status).toBe(400);
      await gateway.lineOf(`run-${run}`);
      const { entries, traffic } = await gateway.gateway.services.records.snapshot();
      expect(entries).toMatchObject([
        { operation: 'listQuestions', count: run, callers: 1, releases: { '2026.11': run } },
      ]);
      expect(entries[0]?.samples.at(-1)?.requestId).toBe(`run-${run}`);
      expect(String(response.headers['contract-status'])).toContain(`report=${entries[0]?.fingerprint}`);
      expect(traffic).toMatchObject([{ operation: 'listQuestions', requests: run }]);
      await gateway.close();
    }
  });

  /** Creates a location that is neither a file nor Redis. Each call to `open` adds the writer to `writers`. */
  function sharedLocation(more: Partial<LedgerLocation> = {}) {
    const writers: LedgerWriter[] = [];
    const location: LedgerLocation = {
      name: 'a database',
      key: '/ledger/store',
      isLasting: true,
      mayBeReplaced: false,
      open: (writer) => {
        writers.push(writer);
        return Promise.resolve(memoryStore(LEDGER_DEFAULTS));
      },
      read: () => Promise.resolve(undefined),
      ...more,
    };
    return { location, writers };
  }

  /** Assembles a ledger at a location and collects its log lines. */
  function assembledAt(location: LedgerLocation) {
    const log: string[] = [];
    const ledger = assembleLedger(LEDGER_DEFAULTS, settingsIn(tempFolder()), {
      release: 'one',
      operations: [],
      clock: createTestClock(),
      kindOf: createKindOf(),
      logger: pino({ level: 'warn' }, { write: (line) => void log.push(line) }),
      location,
      writer: { replica: 'pod-a', redis: undefined },
    });
    return { ledger, log };
  }

  it('gives a shared store the name of the instance, and logs that the store has lost its data', async () => {
    const { location, writers } = sharedLocation();
    const { ledger, log } = assembledAt(location);
    await ledger.open();
    expect(writers).toMatchObject([{ replica: 'pod-a', redis: undefined }]);
    writers[0]?.onDataLost();
    expect(log.join('')).toContain('the shared ledger has lost its data');
  });

  // The store is required even if the location's key has its default value. If the gateway used its memory instead,
  // everything that it counts would be missing from the shared ledger, and only a log line would report this.
  it('is not replaced with memory if a store that may not be replaced is unusable', async () => {
    const unusable = () => Promise.reject(new LedgerStoreError('unusable', 'no such table', 'create the table'));
    const { ledger } = assembledAt(sharedLocation({ open: unusable }).location);
    await expect(ledger.open()).rejects.toMatchObject({
      faults: [{ message: 'ledger.store: no such table', suggestion: 'create the table' }],
    });
    const replaceable = assembledAt(sharedLocation({ open: unusable, mayBeReplaced: true }).location);
    await replaceable.ledger.open();
    expect(replaceable.log.join('')).toContain('the ledger is stored in memory only');
  });

  it('reports a configured file that cannot be opened as a configuration error, with its place', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'file'), '');
    const file = join(folder, 'file', 'ledger.db');
    expect(await faultsOf(settingsIn(folder, { ledger: { file } }))).toMatchObject([
      { pointer: '/ledger/file', message: expect.stringMatching(/^ledger\.file: .*cannot be opened/) as string },
    ]);
    expect(await faultsOf(settingsIn(folder, {}, { PORTICO_LEDGER: file }))).toMatchObject([
      { source: 'PORTICO_LEDGER' },
    ]);
  });

  it('is in memory, with a log line, if no file is configured and the default file cannot be written', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, '.portico', 'ledger.db'), { recursive: true });
    const log: string[] = [];
    const gateway = await createGateway(settingsIn(folder), {
      env: {},
      logStream: { write: (line) => void log.push(line) },
    });
    await gateway.close();
    expect(log.join('')).toContain('the ledger is stored in memory only');
  });

  it('reports a foreign default file as a configuration error and does not change it', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, '.portico'));
    const file = join(folder, '.portico', 'ledger.db');
    writeFileSync(file, 'a diary of many words '.repeat(50));
    expect(await faultsOf(settingsIn(folder))).toMatchObject([
      { pointer: '/ledger/file', message: expect.stringContaining('is not an SQLite database') as string },
    ]);
    expect(readFileSync(file, 'utf8')).toContain('a diary');
  });
});

describe('a configured baseline', () => {
  const DRIFTED = '/services/v2/comment/271.json';
  const drifting = () => startFakeUpstream(() => ({ json: { ...(exampleOf as object), id: 'text' } }));
  const exampleOf = { body: 'x' };

  it('accepts its violations at the `enforce` level until they expire, and the ledger records them', async () => {
    const upstream = await drifting();
    const file = join(tempFolder(), 'baseline.yaml');
    const clock = createTestClock();
    const gateway = await startTestGateway({
      upstream,
      clock,
      config: { contract: { baseline: file }, checks: { responses: 'enforce' } },
    });
    const { baseline, services } = gateway.gateway;
    const { records: ledger } = services;
    let asked = 0;
    expect(gateway.log.join('')).toContain('the baseline file does not exist');
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

  it('logs its expired entries', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const file = join(tempFolder(), 'baseline.yaml');
    const entry = { fingerprint: 'a000000000000001', reason: 'r', owner: 'o@example.org', expires: '2020-01-01' };
    writeFileSync(file, JSON.stringify({ accepted: [entry] }));
    const gateway = await startTestGateway({ upstream, config: { contract: { baseline: file } } });
    const line = gateway.log.find((one) => one.includes('a000000000000001'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      source: file,
      pointer: '/accepted/0',
      msg: 'the violation a000000000000001 is no longer accepted: the last day was 2020-01-01',
    });
    expect(line).not.toContain('example.org');
  });

  it('prevents the start if it is invalid', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const file = join(tempFolder(), 'baseline.yaml');
    writeFileSync(file, 'accepted:\n  - reason: x\n');
    await expect(startTestGateway({ upstream, config: { contract: { baseline: file } } })).rejects.toThrow(
      /baseline\.yaml:2 \/accepted\/0: must have fingerprint/,
    );
  });
});
