import type { Authorship } from '../../contract/api-profile.ts';
import type { Validity } from '../../cache/may-store.ts';
import type { Contract } from '../../contract/load-contract.ts';
import { isErrorInside, type ResponseFindings } from '../../contract/compile/check-response.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { responseViolation } from '../../contract/violations.ts';
import {
  describeExcess,
  type JsonExcess,
  type JsonLimits,
  parseBounded,
  parsedValue,
} from '../../../lib/bounded-json.ts';
import { laterTurn } from '../../../lib/later-turns.ts';
import type { CheckLevel } from '../../model/checks.ts';
import { contentType, type HeaderPairs } from '../../model/header-pairs.ts';
import type { Operation } from '../../model/operation.ts';
import { ERROR_INSIDE, checkFailed, type SkipReason, toVerdict } from '../../model/trace.ts';
import type { StreamedBody } from '../../model/streamed-body.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import { isAdvisory, type Violation } from '../../model/violation.ts';
import type { Ownership } from '../../permissions/ownership.ts';
import { authorsOf } from '../authors.ts';
import { bodyFactsOf } from '../body-facts.ts';
import type { DecodedResponse } from '../decoded-response.ts';
import type { KnownBodies, KnownBody } from '../known-bodies.ts';
import type { InspectedBody } from '../../upstream/response-body.ts';
import type { ResponseFacts, Reply } from '../reply.ts';
import type { ScannedResponse, ScanResponse } from '../scan-response.ts';
import type { MessageObserver } from '../message-observer.ts';
import type { Exchange } from '../exchange.ts';
import type { StagePlanner, PlannedOperation } from '../stage.ts';
import { endedEarly, recordCodingFault, recordServerError } from '../upstream-incident.ts';

/** The services that response validation needs. */
export interface ValidateResponseServices {
  readonly contract: Pick<Contract, 'checkResponse'>;
  /** Removes the content coding of a transparent response so that the response can be inspected. */
  readonly decode: (headers: HeaderPairs, body: Buffer) => Promise<InspectedBody>;
  /**
   * Returns whether a body contains absolute addresses of the legacy server. Returns a promise if the body is so long
   * that it is searched in several turns of the event loop.
   */
  readonly namesUpstream: (body: Buffer) => boolean | Promise<boolean>;
  readonly knownBodies: KnownBodies;
  /** Limits for parsing a response. */
  readonly jsonLimits: JsonLimits;
  /**
   * Scans the bytes of a response instead of parsing it. Undefined if the scanner is off, or if somebody observes the
   * parsed values.
   */
  readonly scan?: ScanResponse | undefined;
  /** Returns whether a baseline or an overlay accepts a violation. */
  readonly isAccepted: (operation: Operation, violation: Violation, status: number) => boolean;
  /** Sees every response, and every response that is parsed. */
  readonly messages: Pick<MessageObserver, 'response' | 'parsedResponse'>;
  /** Records the authors of nodes in valid responses. */
  readonly ownership: Pick<Ownership, 'learn'>;
}

/**
 * Checks the upstream's response before other stages change it. At the `enforce` level, a successful response that
 * violates the contract is not forwarded.
 */
export function validateResponse(services: ValidateResponseServices): StagePlanner {
  return {
    name: 'validate-response',
    check: 'responses',
    plan(planned) {
      const { transparent } = planned;
      const check = (exchange: Exchange, reply: Reply, bytes: Buffer): Reply | Promise<Reply> => {
        const facts = factsOf(exchange, toDecodedResponse(reply, bytes), planned, services);
        return facts instanceof Promise ? facts.then((known) => withFacts(reply, known)) : withFacts(reply, facts);
      };
      const checkTransparent = async (exchange: Exchange, reply: Reply): Promise<Reply> => {
        if (!Buffer.isBuffer(reply.body)) return skipped(exchange, reply, planned, reasonOf(reply.body));
        if (exchange.arrival.method === 'HEAD') return skipped(exchange, reply, planned, 'head');
        const bytes = await services.decode(reply.headers, reply.body);
        // A body that cannot be decoded counts as truncated, just as it does when the client receives the decoded body.
        if (bytes === 'damaged')
          endedEarly(
            exchange.trace,
            new UpstreamFailure('truncated', { failureCause: 'http_response_content_coding' }),
          );
        // Outside `observe` mode, the request is sent again without asking for a coding, so this is no broken exchange.
        if (bytes === 'mislabelled' && planned.checks.responses !== 'off') recordCodingFault(exchange.trace, bytes);
        if (!Buffer.isBuffer(bytes)) return skipped(exchange, reply, planned, 'coding');
        return check(exchange, reply, bytes);
      };
      const checkReply = (exchange: Exchange, reply: Reply): Reply | Promise<Reply> => {
        if (!transparent)
          return Buffer.isBuffer(reply.body)
            ? check(exchange, reply, reply.body)
            : skipped(exchange, reply, planned, reasonOf(reply.body));
        return checkTransparent(exchange, reply).catch((error: unknown) => {
          checkFailed(exchange.trace, 'responses', planned.checks.responses, error);
          return { ...reply, facts: { validity: 'skipped', body: bodyFactsOf(planned, undefined) } };
        });
      };
      return (next) => async (exchange) => {
        const reply = await next(exchange);
        const { violations } = exchange.trace;
        const before = violations.length;
        const checking = checkReply(exchange, reply);
        const checkedReply = checking instanceof Promise ? await checking : checking;
        // The server error itself is recorded only if no other violation was found.
        if (reply.status >= 500 && violations.slice(before).every(isAdvisory)) recordServerError(exchange.trace);
        return checkedReply;
      };
    },
  };
}

const withFacts = (reply: Reply, facts: ResponseFacts): Reply => ({ ...reply, facts, pageCount: facts.body.pageCount });

function toDecodedResponse({ status, headers }: Reply, bytes: Buffer): DecodedResponse {
  return { status, mediaType: contentType(headers), bytes };
}

function factsOf(
  exchange: Exchange,
  response: DecodedResponse,
  planned: PlannedOperation,
  services: ValidateResponseServices,
): ResponseFacts | Promise<ResponseFacts> {
  const { operation, checks } = planned;
  const level = checks.responses;
  services.messages.response?.(exchange, operation, response);
  if (level === 'off') {
    exchange.trace.responses = { level, outcome: 'skipped', reason: 'off', verdict: 'skipped' };
    const parsed = parseBounded(response.bytes, services.jsonLimits);
    const unchecked = parsedValue(parsed);
    services.messages.parsedResponse?.(exchange, operation, response, unchecked);
    return { validity: parsed.state === 'excess' ? 'skipped' : 'off', body: bodyFactsOf(planned, unchecked) };
  }
  const known = services.knownBodies.find(bodyKey(exchange), response);
  if (known !== undefined) return knownFacts(exchange, known, level, services);
  const scanned = scanBody(exchange, response, planned, services);
  const namesUpstream = scanned?.hasAddress !== false && services.namesUpstream(response.bytes);
  if (typeof namesUpstream !== 'boolean')
    return readInTurns(exchange, response, planned, services, { scanned, namesUpstream });
  const read = scanned ?? checkParsed(exchange, response, planned, services, parseBody(response, services));
  return judge(exchange, response, planned, services, { read, namesUpstream });
}

/**
 * Checks a long response. Searching, parsing and checking it can each take tens of milliseconds, so each of them has a
 * turn of the event loop of its own.
 */
async function readInTurns(
  exchange: Exchange,
  response: DecodedResponse,
  planned: PlannedOperation,
  services: ValidateResponseServices,
  reading: { readonly scanned: ScannedResponse | undefined; readonly namesUpstream: Promise<boolean> },
): Promise<ResponseFacts> {
  const namesUpstream = await reading.namesUpstream;
  if (reading.scanned !== undefined)
    return judge(exchange, response, planned, services, { read: reading.scanned, namesUpstream });
  await laterTurn();
  const parsed = parseBody(response, services);
  await laterTurn();
  const read = checkParsed(exchange, response, planned, services, parsed);
  return judge(exchange, response, planned, services, { read, namesUpstream });
}

/** Records the verdict on a response, and returns the facts about it. Throws if the response must not be forwarded. */
function judge(
  exchange: Exchange,
  response: DecodedResponse,
  planned: PlannedOperation,
  services: ValidateResponseServices,
  { read, namesUpstream }: { readonly read: ReadBody | Excess; readonly namesUpstream: boolean },
): ResponseFacts {
  const { operation, checks, errors } = planned;
  if (namesUpstream) exchange.trace.legacyAddress = true;
  if ('limit' in read) return excessFacts(exchange, response, planned, read.limit, services);
  const { json } = read;
  const { validity, reported } = judgeFindings(exchange, response, read.findings, planned, services);
  if (checks.responses === 'enforce' && validity === 'violations' && response.status < 300) {
    const { trace } = exchange;
    const errorInside = isErrorInside(operation, json);
    if (trace.responses !== undefined && errorInside) trace.responses = { ...trace.responses, reason: ERROR_INSIDE };
    // If errors are normalized, the translation of errors decides which error replaces the response.
    if (!errorInside || errors === 'legacy') throw invalid(exchange);
  }
  const body = bodyFactsOf(planned, json);
  if (validity === 'valid') {
    const authors = authorsOf(planned, json);
    learnAll(authors, exchange, services.ownership.learn);
    const known = { ...response, facts: body, authors, namesUpstream, reported };
    services.knownBodies.remember(bodyKey(exchange), known);
  }
  return { validity, body, namesUpstream };
}

/**
 * Returns the key for a response's body. The method and the target determine the operation and every parameter that can
 * affect the verdict. Nearly all targets are strings that V8 has already hashed.
 */
function bodyKey({ arrival: { method, rawTarget } }: Exchange): string {
  return method === 'GET' ? rawTarget : `${method} ${rawTarget}`;
}

/** A response and its findings. After a scan, `json` contains only the members that later steps read. */
interface ReadBody {
  readonly json: unknown;
  readonly findings: ResponseFindings;
}

/** Returns the response if scanning its bytes proves it valid, or undefined if it must be parsed. */
function scanBody(
  exchange: Exchange,
  response: DecodedResponse,
  { operation }: PlannedOperation,
  { scan }: ValidateResponseServices,
): ScannedResponse | undefined {
  const found = scan?.(operation, exchange.values(), response);
  if (found === undefined) return undefined;
  exchange.trace.scan = found === 'closer' ? 'closer' : 'valid';
  return found === 'closer' ? undefined : found;
}

/** A response that is too deeply nested or too large to parse, with the exceeded limit. */
interface Excess {
  readonly limit: JsonExcess;
}

function parseBody({ bytes }: DecodedResponse, { jsonLimits }: ValidateResponseServices): { json: unknown } | Excess {
  const parsed = parseBounded(bytes, jsonLimits);
  return parsed.state === 'excess' ? { limit: parsed.limit } : { json: parsedValue(parsed) };
}

function checkParsed(
  exchange: Exchange,
  response: DecodedResponse,
  { operation }: PlannedOperation,
  services: ValidateResponseServices,
  parsed: { readonly json: unknown } | Excess,
): ReadBody | Excess {
  if ('limit' in parsed) return parsed;
  const { json } = parsed;
  const { status, mediaType, bytes } = response;
  services.messages.parsedResponse?.(exchange, operation, response, json);
  const isEmpty = bytes.length === 0;
  return {
    json,
    findings: services.contract.checkResponse(operation, exchange.values(), {
      status,
      mediaType,
      isEmpty,
      json,
      bytes,
    }),
  };
}

/**
 * Returns the facts about a response that exceeds a limit on depth or size and was therefore not checked. It counts as
 * a violation of category `size`, except in `observe` mode. At the `enforce` level, it is not forwarded.
 */
function excessFacts(
  exchange: Exchange,
  response: DecodedResponse,
  planned: PlannedOperation,
  limit: JsonExcess,
  services: ValidateResponseServices,
): ResponseFacts {
  const body = bodyFactsOf(planned, undefined);
  const { trace } = exchange;
  const level = planned.checks.responses;
  if (planned.transparent) {
    trace.responses = { level, outcome: 'skipped', verdict: 'skipped', reason: 'size' };
    return { validity: 'skipped', body };
  }
  const message = describeExcess('The upstream response', limit, services.jsonLimits, 'upstream.');
  const violation = responseViolation('size', 'body', '', `json-${limit}`, message);
  trace.violations.push(violation);
  if (services.isAccepted(planned.operation, violation, response.status)) {
    trace.responses = { ...toVerdict(level, []), verdict: 'violations' };
    return { validity: 'skipped', body };
  }
  const verdict = toVerdict(level, [violation]);
  const passes = response.status >= 300;
  trace.responses = { ...verdict, ...(passes ? { outcome: 'reported' as const } : {}), verdict: 'violations' };
  if (verdict.outcome === 'refused' && !passes)
    throw new GatewayError('upstream_response_unchecked', message, {
      details: [{ in: 'body', message: 'Raise the limit, or request fewer or smaller items.' }],
    });
  return { validity: 'violations', body };
}

/** Returns the facts that were determined when identical bytes were received earlier. */
function knownFacts(
  exchange: Exchange,
  known: KnownBody,
  level: CheckLevel,
  services: ValidateResponseServices,
): ResponseFacts {
  const { trace } = exchange;
  if (known.namesUpstream) trace.legacyAddress = true;
  trace.responses = { level, outcome: 'passed', verdict: 'valid' };
  trace.violations.push(...known.reported);
  learnAll(known.authors, exchange, services.ownership.learn);
  return { validity: 'valid', body: known.facts, namesUpstream: known.namesUpstream };
}

/** Records the authors with the request's arrival time, because reading the clock for each author would be slow. */
function learnAll(authors: readonly Authorship[], { arrival }: Exchange, learn: Ownership['learn']): void {
  for (const [nodeId, authorName] of authors) learn(nodeId, authorName, arrival.receivedAt);
}

/** The result of checking a response, used by the outer stages. */
interface CheckedResponse {
  readonly validity: Validity;
  readonly reported: readonly Violation[];
}

/** Records the verdict on a response in the trace. */
function judgeFindings(
  exchange: Exchange,
  { status }: DecodedResponse,
  findings: ResponseFindings,
  { operation, checks }: PlannedOperation,
  services: ValidateResponseServices,
): CheckedResponse {
  const { violations, reported } = findings;
  // Reported violations do not affect the verdict, so the response is forwarded and stored as usual.
  exchange.trace.violations.push(...violations, ...reported);
  const unaccepted = violations.some((violation) => !services.isAccepted(operation, violation, status));
  const level = checks.responses;
  if (findings.verdict === 'skipped') {
    const { reason } = findings;
    exchange.trace.responses = { level, outcome: 'skipped', verdict: 'skipped', ...(reason && { reason }) };
    return { validity: 'skipped', reported };
  }
  const verdict = toVerdict(level, unaccepted ? violations : []);
  const refuses = verdict.outcome === 'refused' && status >= 300;
  exchange.trace.responses = {
    ...verdict,
    ...(refuses ? { outcome: 'reported' as const } : {}),
    verdict: findings.verdict,
  };
  return { validity: violations.length === 0 ? 'valid' : unaccepted ? 'violations' : 'accepted', reported };
}

function skipped(exchange: Exchange, reply: Reply, planned: PlannedOperation, reason: SkipReason): Reply {
  exchange.trace.responses = { level: planned.checks.responses, outcome: 'skipped', verdict: 'skipped', reason };
  return { ...reply, facts: { validity: 'skipped', body: bodyFactsOf(planned, undefined) } };
}

// A body is streamed because it is too large to check or because it is incomplete.
const reasonOf = ({ failure }: StreamedBody) => (failure === undefined ? 'size' : 'truncated');

function invalid({ trace }: Exchange): GatewayError {
  const found = trace.violations.filter((violation) => violation.check === 'responses' && !isAdvisory(violation));
  return new GatewayError('upstream_invalid_response', 'The upstream response violates the contract.', {
    details: found.slice(0, 10).map(({ location, at, message }) => ({ in: location, name: at, message })),
  });
}
