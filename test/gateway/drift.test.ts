import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../src/engine/model/ledger-entry.ts';
import { DRIFT_KINDS, CHAOS_NAMES } from '../../src/reference/chaos/chaos-kinds.ts';
import { startReferenceServer, type ReferenceServer } from '../../src/reference/start-reference-server.ts';
import { callAt, type ClientResponse, type Call } from '../builders/call.ts';
import { driftTable, type DriftRow } from '../builders/drift-table.ts';
import { OPERATIONS, type Ids, type OperationCase, targetOf } from '../builders/operations.ts';
import { referenceIds } from '../builders/reference-ids.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { contract } from '../engine/contract/sample.ts';

/*
 * These gateways run in `staging` and `observe` mode in front of the reference server. For each kind of chaos, the
 * ledger must contain exactly the violation in the table. Without chaos, no request may cause a violation.
 */

let reference: ReferenceServer;
let ids: Ids;
const gateways = new Map<string, TestGateway>();
beforeAll(async () => {
  reference = await startReferenceServer({ complete: true });
  ids = await referenceIds(reference.url);
  const start = (mode: string, upstream: object) =>
    startTestGateway({ upstream: reference, config: { mode, cache: { enabled: false }, upstream } });
  const circuit = { failures: 1000, openSeconds: 1 };
  for (const mode of MODES) {
    gateways.set(mode, await start(mode, { circuit }));
    // Only the tests for slow responses use this timeout, because other responses can be equally slow on a busy
    // machine.
    gateways.set(`hurried ${mode}`, await start(mode, { circuit, totalTimeoutMs: 250 }));
  }
});
afterAll(() => reference.close());

const MODES = ['staging', 'observe'] as const;
/** The numbers of the observed operations, and the letters that the table uses for the inferred ones. */
const ROWS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(contract.operations.map(({ id, row }) => [id, String(row)])),
  createComment: 'C',
  updateComment: 'U',
};

const gatewayIn = (mode: string, fault = ''): TestGateway => {
  const gateway = gateways.get(fault.startsWith('slow') ? `hurried ${mode}` : mode);
  if (gateway === undefined) throw new Error(`no gateway in ${mode}`);
  return gateway;
};

/** Returns an account that may use the operation. To edit a comment, the account must also own it. */
const userOf = ({ id }: OperationCase) => (id === 'updateComment' ? 'alice' : 'admin');

/** Bypasses the gateway to create the state that an operation ends. */
async function prepare({ id }: OperationCase): Promise<void> {
  if (id === 'unmarkFavorite') await at(`/services/v2/node/${ids.node}/markfavorite.json`);
  if (id === 'cancelWiki') await at(`/services/v2/node/${ids.node}/wiki.json`);
}

const at = (target: string): Promise<ClientResponse> => callAt(reference.url, target, { method: 'PUT' });

const callOf = (operation: OperationCase, requestId: string): Call => ({
  method: operation.method,
  user: userOf(operation),
  headers: { 'Portico-Force': 'true', 'X-Request-Id': requestId },
  ...(operation.body !== undefined && { body: operation.body }),
});

let requests = 0;

/** Sends a request and waits until it is recorded as a request for this operation. */
async function send(gateway: TestGateway, operation: OperationCase): Promise<void> {
  const requestId = `drift-${(requests += 1)}`;
  // If the connection is broken on purpose, there is no response, but the request is still recorded.
  await gateway.call(targetOf(operation, '', ids), callOf(operation, requestId)).catch(() => undefined);
  expect(await gateway.lineOf(requestId)).toMatchObject({ operation: operation.id });
}

/**
 * Returns the ledger entries that the requests since the last call have added, in the form `direction operation status
 * category keyword at`, with one line per occurrence.
 */
async function addedTo(gateway: TestGateway): Promise<string[]> {
  const before = counts.get(gateway);
  const { entries } = await gateway.gateway.services.records.snapshot();
  counts.set(gateway, new Map(entries.map(({ fingerprint, count }) => [fingerprint, count])));
  return entries.flatMap((entry) => {
    const times = entry.count - (before?.get(entry.fingerprint) ?? 0);
    return Array.from({ length: times }, () => lineOf(entry));
  });
}

const lineOf = ({ direction, operation, status, category, keyword, at: place }: LedgerEntry) =>
  `${direction} ${operation} ${status ?? '-'} ${category} ${keyword} ${place}`.trim();

/** Returns whether a line describes a status change, which is recorded in addition to the violation that causes it. */
const isStatusChange = (line: string) => / advisory upstream_\w+$/.test(line);

/** For each gateway, how often each fingerprint had occurred when the gateway's ledger was last read. */
const counts = new Map<TestGateway, ReadonlyMap<string, number>>();

const statusOf = ({ status }: DriftRow, { success }: OperationCase) => (status === 'ok' ? String(success) : status);

/** The responses of the comment writes are inferred, so whatever differs from them leads only to advisories. */
const violationOf = ({ violation }: DriftRow, { id }: OperationCase) =>
  ['createComment', 'updateComment'].includes(id)
    ? violation.replace(/^(?!protocol|undocumented)[\w-]+/, 'advisory')
    : violation;

const TABLE = driftTable();

/**
 * In `observe` mode, Portico waits for a slow response and does not refuse it, so the delay here is only slightly
 * longer than the timeout.
 */
const inMode = (row: DriftRow, mode: string): DriftRow =>
  row.fault === 'slow' && mode === 'observe'
    ? { ...row, fault: 'slow:300', status: 'ok', violation: 'protocol over-limit-deadline' }
    : row;

describe.each(MODES)('a drifting server in %s', (mode) => {
  it.each(TABLE.map((row) => inMode(row, mode)))('records one violation for $fault of $operations', async (row) => {
    const wanted = OPERATIONS.filter(({ id }) => row.operations?.includes(ROWS[id] ?? '') ?? true);
    expect(wanted).toHaveLength(row.operations?.length ?? OPERATIONS.length);
    const gateway = gatewayIn(mode, row.fault);
    reference.setChaos([]);
    await Promise.all(wanted.map(prepare));
    reference.setChaos([row.fault]);
    await Promise.all(wanted.map((operation) => send(gateway, operation)));
    const expected = wanted.map(
      (operation) => `response ${operation.id} ${statusOf(row, operation)} ${violationOf(row, operation)}`,
    );
    const added = (await addedTo(gateway)).filter((line) => !isStatusChange(line));
    expect(added.toSorted()).toEqual(expected.toSorted());
  });

  it('has every kind of chaos in the table', async () => {
    const named = new Set(TABLE.map(({ fault }) => fault.split(':')[0]));
    // `drift` has no row, because it combines kinds of chaos that have their own rows.
    expect(named).toEqual(new Set<string>(CHAOS_NAMES.filter((name) => name !== 'drift')));
  });

  it('records the violations of its four kinds, one per response, if each response drifts differently', async () => {
    const questions = OPERATIONS.filter(({ id }) => id === 'listQuestions');
    const kinds = TABLE.filter(
      ({ fault, operations }) => (DRIFT_KINDS as readonly string[]).includes(fault) && operations?.includes('6'),
    );
    expect(kinds.map(({ fault }) => fault)).toEqual(DRIFT_KINDS);
    reference.setChaos(['drift']);
    const found: string[][] = [];
    for (const operation of Array.from({ length: 24 }, () => questions).flat()) {
      await send(gatewayIn(mode), operation);
      found.push(await addedTo(gatewayIn(mode)));
    }
    expect(found.map(({ length }) => length)).toEqual(found.map(() => 1));
    expect(new Set(found.flat())).toEqual(
      new Set(kinds.map(({ violation }) => `response listQuestions 200 ${violation}`)),
    );
  });
});
