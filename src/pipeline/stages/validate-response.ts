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
import {
  type Authorship,
  authorsOf,
  bodyFactsOf,
  type BodyLook,
  type KnownBodies,
  type KnownBody,
  type LearnAuthor,
} from '../known-bodies.ts';
import type { ResponseFacts, Reply } from '../reply.ts';
import type { ShadowContract } from '../shadow-contract.ts';
import type { Exchange } from '../exchange.ts';
import type { PlannedOperation } from '../planned-operation.ts';
import type { StagePlanner } from '../stage.ts';
import { endedEarly, recordServerError } from '../upstream-violation.ts';
import { checkFailed, toVerdict } from '../../model/trace.ts';

/** Services that response validation needs. */
export interface ValidateResponseServices {
  readonly judge: Contract['checkResponse'];
  /**
   * Decodes the content coding of a transparent response for inspection. Returns undefined if the response is too large
   * or the coding is unknown.
   */
  readonly decode: (headers: HeaderPairs, body: Buffer) => Promise<Buffer | 'damaged' | undefined>;
  /** Returns whether a body contains an absolute address of the legacy host. */
  readonly namesUpstream: (body: Buffer) => boolean;
  readonly knownAnswers: KnownBodies;
  /** Limits for parsing a response. */
  readonly jsonLimits: JsonLimits;
  /** Returns whether a baseline or an overlay accepts a violation. */
  readonly isAccepted: (operation: Operation, violation: Violation, status: number) => boolean;
  /** Observes the shape of a parsed response. Undefined if the gateway does not learn from traffic. */
  readonly observe?: ((exchange: Exchange, operation: Operation, status: number, json: unknown) => void) | undefined;
  /** Observes the responses that a candidate contract also judges. Undefined if there is no candidate. */
  readonly candidate?: Pick<ShadowContract, 'answered'> | undefined;
  /** Records the author of a node in a valid response. */
  readonly learn: LearnAuthor;
}

/**
 * Judges the upstream's response as received. With `enforce`, a successful response that violates the contract is not
 * passed on.
 */
export function validateResponse(services: ValidateResponseServices): StagePlanner {
  return {
    name: 'validate-response',
    plan(planned) {
      const { transparent } = planned;
      const judge = async (exchange: Exchange, reply: Reply): Promise<Reply> => {
        if (!Buffer.isBuffer(reply.body)) return skipped(exchange, reply, planned, 'size');
        if (exchange.arrival.method === 'HEAD' && transparent) return skipped(exchange, reply, planned, 'head');
        const bytes = transparent ? await services.decode(reply.headers, reply.body) : reply.body;
        // The same failure is reported under this name when responses are decoded for the client.
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
        // If the response reports a server error, record at least that in the ledger.
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
  // Together with the operation, the path and the query contain every parameter that a verdict depends on.
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

/**
 * Returns the facts of a response that is too deep or too large to parse. It violates the contract, except in `observe`
 * mode, which does not judge it.
 */
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

/** Returns the facts found earlier in the same bytes. */
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

/** The result of judging a response, for the outer stages. */
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
  // Violations that are only reported do not affect the verdict, so the response is passed on and stored as usual.
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
