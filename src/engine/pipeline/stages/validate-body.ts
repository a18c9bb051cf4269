import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { oncePerKind } from '../../contract/violations.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { countMembers, describeExcess, type JsonLimits, parseBounded } from '../../../lib/bounded-json.ts';
import { readBody } from '../../../lib/read-body.ts';
import type { Operation } from '../../model/operation.ts';
import { checkFailed, toVerdict } from '../../model/trace.ts';
import type { Violation } from '../../model/violation.ts';
import { uploadOf } from '../../upstream/send-proxied.ts';
import { bodyTypeProblem, contentTypeLines } from '../body-type.ts';
import type { Exchange } from '../exchange.ts';
import { documentedText, requestRefusal, toDetail } from '../request-refusal.ts';
import type { Reply } from '../reply.ts';
import type { BodyFindings, CheckBody, PlanBodyCheck } from '../request-rules.ts';
import type { PlannedOperation, Stage, StagePlanner } from '../stage.ts';

/** Limits for request bodies. */
export interface BodyLimits {
  readonly bytes: number;
  readonly json: JsonLimits;
}

/**
 * Reads and checks the request body, and forwards the original bytes upstream. If the operation takes no body, any body is
 * a violation (docs/rules.md §4).
 */
export function validateBody(planCheck: PlanBodyCheck, limits: BodyLimits): StagePlanner {
  return {
    name: 'validate-body',
    check: 'requests',
    plan(planned) {
      const { operation, checks, transparent } = planned;
      const level = checks.requests;
      if (operation.requestBody === undefined) {
        // Without the check, the body of a transparent request is streamed.
        return transparent && level === 'off' ? undefined : withoutBody(planned, limits);
      }
      const { check, identifies } = planCheck(planned);
      return (next) => async (exchange) => {
        const read = await receive(exchange, limits);
        if (read.state === 'larger') {
          if (!transparent) throw tooLarge(read.stream, limits.bytes);
          if (exchange.trace.requests?.outcome !== 'reported')
            exchange.trace.requests = { level, outcome: 'skipped', reason: 'size' };
          return next({ ...exchange, body: detached(read.stream) });
        }
        const passed = { ...exchange, body: read.bytes };
        // Even a body that is not checked must be recognized if it is repeated.
        if (level === 'off' && (transparent || !identifies)) return next(passed);
        let findings: BodyFindings;
        try {
          findings = await inspect(read.bytes, passed, { check, limits });
        } catch (error) {
          if (!transparent) throw error;
          // The body has already been read, so it must be forwarded from memory.
          checkFailed(exchange.trace, 'requests', level, error);
          return next(passed);
        }
        const { violations, reported = [], identity, forwarded } = findings;
        const identified = { ...passed, ...(identity !== undefined && { bodyIdentity: identity }) };
        if (level === 'off') return next(identified);
        const checked = {
          ...identified,
          ...(forwarded !== undefined && !transparent && { body: forwarded }),
        };
        exchange.trace.violations.push(...oncePerKind(violations), ...reported);
        if (violations.length === 0) {
          if (reported.length > 0) exchange.trace.requests = { level, outcome: 'reported' };
          return next(checked);
        }
        exchange.trace.requests = toVerdict(level, violations);
        if (level !== 'enforce') return next(checked);
        throw refusal(operation, findings);
      };
    },
  };
}

/** Reads the body, up to the limit. Rejects with a `GatewayError` if the client disconnects. */
async function receive({ arrival }: Exchange, limits: BodyLimits) {
  const read = await readBody(arrival.body, { bytes: limits.bytes });
  if (read.state !== 'broken') return read;
  throw new GatewayError('client_closed', 'The client disconnected before the request was complete.', {
    cause: read.error,
  });
}

const UNEXPECTED: Violation = {
  check: 'requests',
  direction: 'request',
  category: 'not-allowed',
  location: 'body',
  at: '',
  keyword: 'no-body',
  schemaPath: '',
  message: 'This operation takes no body; send the request without one.',
};

/** Refuses a body for an operation that takes none. At other levels, the body is forwarded and never dropped. */
function withoutBody({ checks: { requests: level }, transparent }: PlannedOperation, limits: BodyLimits): Stage {
  return (next) => {
    const judge = async (exchange: Exchange): Promise<Reply> => {
      const read = await receive(exchange, limits);
      if (read.bytes.length === 0) return next(transparent ? { ...exchange, body: read.bytes } : exchange);
      if (level !== 'off') {
        exchange.trace.violations.push(UNEXPECTED);
        exchange.trace.requests = toVerdict(level, [UNEXPECTED]);
      }
      if (read.state === 'larger' && !transparent) throw tooLarge(read.stream, limits.bytes);
      if (level === 'enforce') {
        if (read.state === 'larger') discard(read.stream);
        throw new GatewayError('invalid_body', UNEXPECTED.message, {
          details: [toDetail(UNEXPECTED)],
          ...(read.state === 'larger' && { headers: { Connection: 'close' } }),
        });
      }
      const body = read.state === 'larger' ? detached(read.stream) : read.bytes;
      // A stored response may depend on the body and its type, so the audience, which is part of every key, contains a hash
      // of both.
      const identity = JSON.stringify([contentTypeLines(exchange.arrival), hash('sha256', read.bytes, 'base64url')]);
      const audience = `${exchange.audience};body:${hash('sha256', identity, 'base64url')}`;
      return next({ ...exchange, body, audience });
    };
    return (exchange) => (uploadOf(exchange.arrival) === undefined ? next(exchange) : judge(exchange));
  };
}

/** Reads and discards the rest of a body, so that the client can read the response before the connection is closed. */
function discard(rest: Readable): void {
  rest.on('error', () => undefined).resume();
}

function tooLarge(rest: Readable, limit: number): GatewayError {
  // The rest of the body is read and discarded until the connection is closed. Closing it with unread bytes would reset
  // the connection, and the client would lose the response.
  discard(rest);
  return new GatewayError(
    'body_too_large',
    `The request body is larger than ${limit} bytes, which is the limit of listen.maxBodyBytes.`,
    {
      headers: { Connection: 'close' },
    },
  );
}

/** Returns a stream of the body's bytes. Destroying it does not destroy the client's connection. */
function detached(body: Readable): Readable {
  return Readable.from(body.iterator({ destroyOnReturn: false }), { objectMode: false });
}

async function inspect(
  bytes: Buffer,
  exchange: Exchange,
  { check, limits }: { readonly check: CheckBody; readonly limits: BodyLimits },
): Promise<BodyFindings> {
  const { headers } = exchange.arrival;
  if (bytes.length === 0) return one('missing', '', 'required', 'The request body is missing; send a JSON object.');
  const type = bodyTypeProblem(exchange.arrival);
  if (type !== undefined) return { ...one('protocol', 'content-type', type.keyword, type.message), code: type.code };
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    return {
      ...one('protocol', 'content-encoding', 'coding', 'Content codings are not accepted; send the body without one.'),
      code: 'unsupported_media_type',
    };
  const parsed = parseBounded(bytes, limits.json);
  if (parsed.state === 'malformed') return one('format', '', 'json', 'The request body is not well-formed JSON.');
  if (parsed.state === 'excess') {
    const message = describeExcess('The request body', parsed.limit, limits.json, 'listen.');
    return one('bounds', '', `json-${parsed.limit}`, message);
  }
  // The bytes are forwarded unchanged. If two members have the same name, the upstream might read the unchecked one.
  if (countMembers(parsed.value) !== parsed.members)
    return one('format', '', 'repeated-member', 'The request body contains a repeated member.');
  return check(parsed.value, exchange);
}

function one(category: Violation['category'], at: string, keyword: string, message: string): BodyFindings {
  const location = category === 'protocol' ? 'header' : 'body';
  return {
    violations: [{ check: 'requests', direction: 'request', category, location, at, keyword, schemaPath: '', message }],
  };
}

function refusal(operation: Operation, { violations, code = 'invalid_body', details }: BodyFindings): GatewayError {
  if (code === 'unsupported_media_type')
    return new GatewayError(code, violations[0]?.message ?? '', { details: violations.map(toDetail) });
  if (details === undefined) return requestRefusal(operation, code, violations);
  const [first] = violations;
  return new GatewayError(code, documentedText(operation, 400, first ?? {}, first?.message ?? ''), { details });
}
