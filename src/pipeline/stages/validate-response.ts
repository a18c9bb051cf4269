import { GatewayError } from '../../errors/gateway-error.ts';
import { headerValue, type HeaderPairs } from '../../model/header-pairs.ts';
import type { Violation } from '../../model/violation.ts';
import type { Contract } from '../../contract/contract.ts';
import type { Operation } from '../../model/operation.ts';
import type { Exchange } from '../exchange.ts';
import type { PlannedOperation } from '../planned-operation.ts';
import type { AnswerFacts, Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';
import { toVerdict } from '../verdict.ts';

/** What response validation needs from the rest of the house. */
export interface ValidateResponseServices {
  readonly judge: Contract['judgeResponse'];
  /** Takes the content coding off a transparent answer, to look at it; undefined when it is too large or cannot be read. */
  readonly decode: (headers: HeaderPairs, body: Buffer) => Promise<Buffer | undefined>;
  /** True when a body holds an absolute address of the legacy host. */
  readonly namesUpstream: (body: Buffer) => boolean;
  /** True for violations that a baseline or overlay accepts. */
  readonly isAccepted: (operation: Operation, violation: Violation) => boolean;
  /** Learns who wrote the nodes that a valid answer shows. */
  readonly learn: (operation: Operation, json: unknown) => void;
}

/** Judges the upstream's answer as it came; under `enforce` a success that breaks the contract is not passed on. */
export function validateResponse(services: ValidateResponseServices): StagePlanner {
  return {
    name: 'validate-response',
    plan(planned) {
      const { operation, checks, transparent } = planned;
      const level = checks.responses;
      return (next) => async (exchange) => {
        const reply = await next(exchange);
        if (!Buffer.isBuffer(reply.body)) return skipped(exchange, reply, planned, 'size');
        if (exchange.arrival.method === 'HEAD' && transparent) return skipped(exchange, reply, planned, 'head');
        const bytes = transparent ? await services.decode(reply.headers, reply.body) : reply.body;
        if (bytes === undefined) return skipped(exchange, reply, planned, 'coding');
        if (level !== 'off' && services.namesUpstream(bytes)) exchange.trace.legacyAddress = true;
        const json = parse(bytes);
        const facts = level === 'off' ? off(exchange, json) : judged(exchange, reply, json, planned, services);
        if (facts.validity === 'valid') services.learn(operation, json);
        if (level === 'enforce' && facts.validity === 'violations' && reply.status < 300) throw invalid(exchange);
        return { ...reply, facts, pageCount: pageCountOf(json) };
      };
    },
  };
}

function judged(
  exchange: Exchange,
  reply: Reply,
  json: unknown,
  { operation, checks }: PlannedOperation,
  services: ValidateResponseServices,
): AnswerFacts {
  const mediaType = headerValue(reply.headers, 'content-type');
  const judgement = services.judge(operation, exchange.values(), { status: reply.status, mediaType, json });
  const { violations } = judgement;
  exchange.trace.violations.push(...violations);
  const unaccepted = violations.some((violation) => !services.isAccepted(operation, violation));
  const level = checks.responses;
  if (judgement.verdict === 'skipped') {
    exchange.trace.responses = { level, outcome: 'skipped', verdict: 'skipped', reason: judgement.reason ?? '' };
    return { validity: 'skipped', json };
  }
  const verdict = toVerdict(level, unaccepted ? violations : []);
  const refuses = verdict.outcome === 'refused' && reply.status >= 300;
  exchange.trace.responses = {
    ...verdict,
    ...(refuses ? { outcome: 'reported' as const } : {}),
    verdict: judgement.verdict,
  };
  return { validity: violations.length === 0 ? 'valid' : unaccepted ? 'violations' : 'accepted', json };
}

function off(exchange: Exchange, json: unknown): AnswerFacts {
  exchange.trace.responses = { level: 'off', outcome: 'skipped', reason: 'off', verdict: 'skipped' };
  return { validity: 'off', json };
}

function skipped(exchange: Exchange, reply: Reply, { checks }: PlannedOperation, reason: string): Reply {
  exchange.trace.responses = { level: checks.responses, outcome: 'skipped', verdict: 'skipped', reason };
  return { ...reply, facts: { validity: 'skipped', json: undefined } };
}

function invalid({ trace }: Exchange): GatewayError {
  const found = trace.violations.filter((violation) => violation.check === 'responses');
  return new GatewayError('upstream_invalid_response', 'The answer of the upstream breaks the contract.', {
    details: found.slice(0, 10).map(({ location, at, message }) => ({ in: location, name: at, message })),
  });
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, '')) as unknown;
  } catch {
    return undefined;
  }
}

/** The page count that bounds pages; none where nothing was found, since then the bound is waived (rules, 5). */
function pageCountOf(json: unknown): number | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  // What an error says beside itself describes no list.
  if ('error' in json || 'errors' in json) return undefined;
  const { pageCount, totalCount } = json as Record<string, unknown>;
  if (totalCount === 0 || typeof pageCount !== 'number' || !Number.isSafeInteger(pageCount)) return undefined;
  return pageCount;
}
