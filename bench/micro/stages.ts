import type { IncomingMessage } from 'node:http';
import { createAcceptedCodings, etagOf } from '../../src/engine/cache/representation.ts';
import { disabledOperations } from '../../src/engine/compile-gateway.ts';
import { createArrivalReader } from '../../src/engine/http/arrival.ts';
import { createTrace } from '../../src/engine/model/trace.ts';
import { authorsOf } from '../../src/engine/pipeline/authors.ts';
import { bodyFactsOf } from '../../src/engine/pipeline/body-facts.ts';
import { createDecide } from '../../src/engine/pipeline/decide-request.ts';
import { admitted } from '../../src/engine/pipeline/dispatch.ts';
import { pageKey } from '../../src/engine/pipeline/page-key.ts';
import { createScanResponse } from '../../src/engine/pipeline/scan-response.ts';
import { admit } from '../../src/engine/pipeline/targets.ts';
import { openScanner } from '../../src/engine/scanner/open-scanner.ts';
import { createAccessLog } from '../../src/engine/telemetry/logs.ts';
import { DEFAULT_JSON_LIMITS } from '../../src/lib/bounded-json.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type Fixture, fresh } from './fixture.ts';
import type { Stage } from './measure-stage.ts';

/** Returns the stages in the order in which a request passes through them, after trying whether each does its work. */
export function stagesOf(fixture: Fixture): readonly Stage[] {
  const stages = [
    // The cost of every other stage includes that of this one's loop.
    stage(
      '(nothing)',
      'first',
      () => fresh('text'),
      (text) => text,
    ),
    readHeaders(fixture),
    resolveTarget(fixture),
    ...newTarget(fixture),
    authenticate(fixture),
    ...hit(fixture),
    ...miss(fixture),
    ...finished(fixture),
  ];
  for (const { input, run } of stages) run(input() as never);
  return stages;
}

/** Creates a stage. The type parameter ensures that `run` accepts what `input` returns. */
function stage<Input>(
  name: string,
  paidBy: Stage['paidBy'],
  input: () => Input,
  run: (input: Input) => unknown,
): Stage {
  return { name, paidBy, input, run };
}

/** Throws if a stage did not do what its name says. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

function readHeaders({ request }: Fixture): Stage {
  const read = createArrivalReader({
    maxTargetBytes: 8192,
    publicBasePath: '',
    publicOrigin: undefined,
    trustedProxies: [],
    clock: systemClock,
  });
  const socket = { remoteAddress: '127.0.0.1' };
  const arrival = () => ({ ...request(), socket }) as IncomingMessage;
  must(read(arrival()).authorization !== undefined, 'the request has no credential');
  return stage('headers, request id and trace context', 'hit', arrival, read);
}

function resolveTarget({ assembly: { gateway }, arrival, plan }: Fixture): Stage {
  const again = () => ({ ...arrival, rawTarget: fresh(arrival.rawTarget) });
  must(gateway.targets.resolve(again()).plan === plan, 'the target belongs to another plan');
  return stage('looking up a remembered target', 'hit', again, (one) => gateway.targets.resolve(one));
}

function newTarget({ assembly: { gateway }, plan, arrival }: Fixture): readonly Stage[] {
  const { contract } = gateway;
  const match = contract.match(arrival.path);
  if (match === undefined) throw new Error('the contract does not have the path of the page');
  const queried = () => ({ ...arrival, query: fresh(arrival.query ?? '') });
  return [
    stage(
      'matching the path',
      'first',
      () => fresh(arrival.path),
      (path) => contract.match(path),
    ),
    stage('checking the parameters', 'first', queried, (one) => admit(plan, contract, match, one)),
  ];
}

function authenticate({ assembly: { gateway }, arrival, plan }: Fixture): Stage {
  const ask = (authorizationHeader: string) =>
    gateway.authenticator.authenticate({
      authorizationHeader,
      clientAddress: () => '127.0.0.1',
      level: plan.checks.authentication,
      needsCredential: plan.operation.needsCredential,
      now: systemClock(),
    });
  const credential = arrival.authorization ?? '';
  must(!(ask(credential) instanceof Promise), 'the credential is not remembered');
  return stage('looking up a verified credential', 'hit', () => fresh(credential), ask);
}

function hit({ settings, start, assembly, target, plan, exchange, trace }: Fixture): readonly Stage[] {
  const { gateway, services } = assembly;
  const { permissions, contract } = start;
  const { ownership, lookUp, cache } = services;
  const decide = createDecide({
    permissions,
    ownership,
    findOwner: settings.profile.findOwner,
    lookUp,
    disabledOperations: disabledOperations(settings, contract.operations),
  });
  const own = { ...exchange, grants: permissions.grantsOf(exchange.principal) };
  const decision = decide(plan, own);
  must(!(decision instanceof Promise) && decision.verdict === 'allowed', 'the caller is not allowed');
  const key = pageKey(plan, exchange);
  must(cache.lookup(key)?.state === 'fresh', 'the page is not stored');
  const { arrival, principal } = exchange;
  const request = () => ({ arrival, principal, trace: createTrace(trace) });
  const exchanged = () => ({ ...exchange, trace: createTrace(trace) });
  must(!(plan.handle(exchanged()) instanceof Promise), 'the request is not a hit');
  return [
    stage('grants and audience of a remembered target', 'hit', request, (one) => admitted(gateway, one, target)),
    stage(
      'deciding on the permission',
      'hit',
      () => own,
      (one) => decide(plan, one),
    ),
    stage(
      'the key of the page',
      'hit',
      () => ({ ...exchange, target: fresh(exchange.target) }),
      (one) => pageKey(plan, one),
    ),
    stage(
      'looking up the page',
      'hit',
      () => fresh(key),
      (one) => cache.lookup(one),
    ),
    stage('the plan of a hit, with the three above', 'hit', exchanged, plan.handle),
    stage('choosing a content coding', 'hit', () => fresh('gzip, deflate, br, zstd'), createAcceptedCodings()),
  ];
}

function miss({ assembly: { gateway }, plan, exchange, body }: Fixture): readonly Stage[] {
  const scanResponse = createScanResponse(gateway.contract, openScanner(DEFAULT_JSON_LIMITS), plan.items);
  const values = exchange.values();
  const scan = (bytes: Buffer) => {
    const found = scanResponse(plan.operation, values, { status: 200, mediaType: 'application/json', bytes });
    if (typeof found !== 'object') throw new Error('the page is not proven valid');
    return { facts: bodyFactsOf(plan, found.json), authors: authorsOf(plan, found.json) };
  };
  return [
    stage('scanning a page of 29 kB, its tags and authors', 'miss', () => body, scan),
    stage('the entity tag of a page of 29 kB', 'miss', () => body, etagOf),
  ];
}

function finished({ assembly: { services }, plan, trace }: Fixture): readonly Stage[] {
  const lines: string[] = [];
  const log = createAccessLog({
    operations: [plan.operation],
    pathWords: new Set(),
    stream: { write: (line: string) => void (lines[0] = line) },
    level: 'info',
    clock: systemClock,
    principalNames: false,
    fingerprintOf: () => '',
  });
  log.record(trace);
  must(lines[0] !== undefined, 'the hit is not logged');
  const hitTrace = () => trace;
  return [
    stage('metrics', 'hit', hitTrace, (one) => services.metrics.record(one)),
    stage('ledger', 'hit', hitTrace, (one) => services.records.record(one)),
    stage('log line', 'hit', hitTrace, (one) => log.record(one)),
  ];
}
