import type { Validity } from '../../cache/may-store.ts';
import type { Contract } from '../../contract/contract.ts';
import { isErrorInside } from '../../contract/compile/check-response.ts';
import { isAdvisory } from '../../contract/explain/unknown-field.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { responseViolation } from '../../contract/violations.ts';
import {
  type BoundedJson,
  describeExcess,
  type JsonExcess,
  type JsonLimits,
  parseBounded,
} from '../../lib/bounded-json.ts';
import type { CheckLevel } from '../../model/checks.ts';
import { headerValue, type HeaderPairs } from '../../model/header-pairs.ts';
import type { Operation } from '../../model/operation.ts';
import { ERROR_INSIDE } from '../../model/trace.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import type { Violation } from '../../model/violation.ts';
import { type ResponseFacts, bodyFactsOf, type Reply } from '../reply.ts';
import type { ShadowContract } from '../shadow/shadow-contract.ts';
import type { Exchange } from '../exchange.ts';
import {
  type BodyLook,
  type Authorship,
  authorsOf,
  type KnownBody,
  type KnownBodies,
  type LearnAuthor,
} from '../known-bodies.ts';
import type { PlannedOperation } from '../planned-operation.ts';
import type { StagePlanner } from '../stage.ts';
import { endedEarly, recordServerError } from '../upstream-violation.ts';
import { checkFailed, toVerdict } from '../request-refusal.ts';

/** What response validation needs from the rest of the gateway. */
export interface ValidateResponseServices {
  readonly judge: Contract['checkResponse'];
  /** Takes the content coding off a transparent answer, to look at it; undefined when it is too large or coded in an unknown way. */
  readonly decode: (headers: HeaderPairs, body: Buffer) => Promise<Buffer | 'damaged' | undefined>;
  /** True when a body holds an absolute address of the legacy host. */
  readonly namesUpstream: (body: Buffer) => boolean;
  readonly knownAnswers: KnownBodies;
  /** What a response may hold to be parsed. */
  readonly jsonLimits: JsonLimits;
  /** True for violations that a baseline or overlay accepts. */
  readonly isAccepted: (operation: Operation, violation: Violation, status: number) => boolean;
  /** Looks at the shape of a parsed answer; undefined where nothing is learned from traffic. */
  readonly observe?: ((exchange: Exchange, operation: Operation, status: number, json: unknown) => void) | undefined;
  /** Sees the answers that a candidate contract judges too; undefined where there is none. */
  readonly candidate?: Pick<ShadowContract, 'answered'> | undefined;
  /** Learns who wrote a node that a valid answer shows. */
  readonly learn: LearnAuthor;
}

/** Judges the upstream's answer as it came; under `enforce` a success that breaks the contract is not passed on. */
export function validateResponse(services: ValidateResponseServices): StagePlanner {
  return {
    name: 'validate-response',
    plan(planned) {
      const { transparent } = planned;
      const judge = async (exchange: Exchange, reply: Reply): Promise<Reply> => {
        if (!Buffer.isBuffer(reply.body)) return skipped(exchange, reply, planned, 'size');
        if (exchange.arrival.method === 'HEAD' && transparent) return skipped(exchange, reply, planned, 'head');
        const bytes = transparent ? await services.decode(reply.headers, reply.body) : reply.body;
        // Where the coding is taken off before the client gets it, such an answer is a failure with the same name.
        if (bytes === 'damaged') endedEarly(exchange.trace, new UpstreamFailure('truncated'));
        if (bytes === undefined || bytes === 'damaged') return skipped(exchange, reply, planned, 'coding');
        const facts = factsOf(exchange, toBodyLook(reply, bytes), planned, services);
        return { ...reply, facts, pageCount: facts.body.pageCount };
      };
      return (next) => async (exchange) => {
        const reply = await next(exchange);
        const { violations } = exchange.trace;
        const before = violations.length;
        const judgedReply = await judge(exchange, reply).catch((error: unknown) => {
          if (!transparent) throw error;
          checkFailed(exchange.trace, 'responses', planned.checks.responses, error);
          return { ...reply, facts: { validity: 'skipped' as const, body: bodyFactsOf(planned, undefined) } };
        });
        // Of an answer that says itself that it failed, the ledger knows at least that.
        if (reply.status >= 500 && violations.slice(before).every(isAdvisory)) recordServerError(exchange.trace);
        return judgedReply;
      };
    },
  };
}

function toBodyLook({ status, headers }: Reply, bytes: Buffer): BodyLook {
  return { status, mediaType: headerValue(headers, 'content-type'), bytes };
}

function factsOf(
  exchange: Exchange,
  look: BodyLook,
  planned: PlannedOperation,
  services: ValidateResponseServices,
): ResponseFacts {
  const { operation, checks } = planned;
  const level = checks.responses;
  if (level === 'off') {
    exchange.trace.responses = { level, outcome: 'skipped', reason: 'off', verdict: 'skipped' };
    const unjudged = valueOf(parseBounded(look.bytes, services.jsonLimits));
    services.observe?.(exchange, operation, look.status, unjudged);
    return { validity: 'off', body: bodyFactsOf(planned, unjudged) };
  }
  // With the operation, the path and the query give every parameter that a verdict depends on.
  const key = `${operation.id} ${exchange.arrival.path}?${exchange.arrival.query ?? ''}`;
  const known = services.knownAnswers.find(key, look);
  if (known !== undefined) return knownFacts(exchange, known, level, services);
  const namesUpstream = services.namesUpstream(look.bytes);
  if (namesUpstream) exchange.trace.legacyAddress = true;
  const parsed = parseBounded(look.bytes, services.jsonLimits);
  if (parsed.state === 'excess') return excessFacts(exchange, look, planned, parsed.limit, services);
  const json = valueOf(parsed);
  services.observe?.(exchange, operation, look.status, json);
  services.candidate?.answered(exchange.trace, exchange.arrival, look, json);
  const { validity, reported } = judged(exchange, look, json, planned, services);
  if (level === 'enforce' && validity === 'violations' && look.status < 300) {
    const { trace } = exchange;
    if (trace.responses !== undefined && isErrorInside(operation, json))
      trace.responses = { ...trace.responses, reason: ERROR_INSIDE };
    throw invalid(exchange);
  }
  const body = bodyFactsOf(planned, json);
  if (validity === 'valid') {
    const authors = authorsOf(operation, json);
    learnAll(authors, services.learn);
    services.knownAnswers.remember(key, { ...look, facts: body, authors, namesUpstream, reported });
  }
  return { validity, body };
}

const valueOf = (parsed: BoundedJson): unknown => (parsed.state === 'parsed' ? parsed.value : undefined);

/** A response that is too deep or too large to be parsed: it breaks the contract, and `observe` leaves it unjudged. */
function excessFacts(
  exchange: Exchange,
  look: BodyLook,
  planned: PlannedOperation,
  limit: JsonExcess,
  services: ValidateResponseServices,
): ResponseFacts {
  const body = bodyFactsOf(planned, undefined);
  const { trace } = exchange;
  const level = planned.checks.responses;
  if (planned.transparent) {
    trace.responses = { level, outcome: 'skipped', verdict: 'skipped', reason: limit };
    return { validity: 'skipped', body };
  }
  const message = describeExcess('the body', limit, services.jsonLimits);
  const violation = responseViolation('protocol', 'body', '', `json-${limit}`, message);
  trace.violations.push(violation);
  if (services.isAccepted(planned.operation, violation, look.status)) {
    trace.responses = { ...toVerdict(level, []), verdict: 'violations' };
    return { validity: 'skipped', body };
  }
  const verdict = toVerdict(level, [violation]);
  const passes = look.status >= 300;
  trace.responses = { ...verdict, ...(passes ? { outcome: 'reported' as const } : {}), verdict: 'violations' };
  if (verdict.outcome === 'refused' && !passes) throw invalid(exchange);
  return { validity: 'violations', body };
}

/** What the look at the very same bytes has shown before. */
function knownFacts(
  { trace }: Exchange,
  known: KnownBody,
  level: CheckLevel,
  services: ValidateResponseServices,
): ResponseFacts {
  if (known.namesUpstream) trace.legacyAddress = true;
  trace.responses = { level, outcome: 'passed', verdict: 'valid' };
  trace.violations.push(...known.reported);
  learnAll(known.authors, services.learn);
  return { validity: 'valid', body: known.facts };
}

function learnAll(authors: readonly Authorship[], learn: LearnAuthor): void {
  for (const [nodeId, authorName] of authors) learn(nodeId, authorName);
}

/** What a judgement comes to for the stages outside. */
interface Judged {
  readonly validity: Validity;
  readonly reported: readonly Violation[];
}

function judged(
  exchange: Exchange,
  { status, mediaType, bytes }: BodyLook,
  json: unknown,
  { operation, checks }: PlannedOperation,
  services: ValidateResponseServices,
): Judged {
  const judgement = services.judge(operation, exchange.values(), {
    status,
    mediaType,
    isEmpty: bytes.length === 0,
    json,
  });
  const { violations, reported } = judgement;
  // What is only reported makes no verdict: such an answer is passed on and kept like any other.
  exchange.trace.violations.push(...violations, ...reported);
  const unaccepted = violations.some((violation) => !services.isAccepted(operation, violation, status));
  const level = checks.responses;
  if (judgement.verdict === 'skipped') {
    exchange.trace.responses = { level, outcome: 'skipped', verdict: 'skipped', reason: judgement.reason ?? '' };
    return { validity: 'skipped', reported };
  }
  const verdict = toVerdict(level, unaccepted ? violations : []);
  const refuses = verdict.outcome === 'refused' && status >= 300;
  exchange.trace.responses = {
    ...verdict,
    ...(refuses ? { outcome: 'reported' as const } : {}),
    verdict: judgement.verdict,
  };
  return { validity: violations.length === 0 ? 'valid' : unaccepted ? 'violations' : 'accepted', reported };
}

function skipped(exchange: Exchange, reply: Reply, planned: PlannedOperation, reason: string): Reply {
  exchange.trace.responses = { level: planned.checks.responses, outcome: 'skipped', verdict: 'skipped', reason };
  return { ...reply, facts: { validity: 'skipped', body: bodyFactsOf(planned, undefined) } };
}

function invalid({ trace }: Exchange): GatewayError {
  const found = trace.violations.filter((violation) => violation.check === 'responses' && !isAdvisory(violation));
  return new GatewayError('upstream_invalid_response', 'The answer of the upstream breaks the contract.', {
    details: found.slice(0, 10).map(({ location, at, message }) => ({ in: location, name: at, message })),
  });
}
