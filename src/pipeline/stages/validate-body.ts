import { Readable } from 'node:stream';
import {
  checkCommentVisibility,
  type CommentWrite,
  type ParentVisibility,
} from '../../comments/check-comment-visibility.ts';
import type { CommentsOptions } from '../../comments/comments-options.ts';
import { oncePerKind } from '../../contract/violations.ts';
import type { ErrorCode } from '../../errors/catalogue.ts';
import { GatewayError, type ErrorDetail } from '../../errors/gateway-error.ts';
import { checkLongUploadCsv, checkUploadCsv, CSV_PART_LENGTH } from '../../gdpr/check-upload-csv.ts';
import type { GdprOptions } from '../../gdpr/gdpr-options.ts';
import { countMembers, describeExcess, type JsonLimits, parseBounded } from '../../lib/bounded-json.ts';
import { valueAt } from '../../lib/json-pointer.ts';
import { readBody } from '../../lib/read-body.ts';
import type { Checks } from '../../model/checks.ts';
import type { Operation, RequestRuleName } from '../../model/operation.ts';
import type { Principal } from '../../model/principal.ts';
import { checkFailed, toVerdict } from '../../model/trace.ts';
import { isAdvisory, type Violation } from '../../model/violation.ts';
import type { FetchJson } from '../../permissions/ownership.ts';
import type { Exchange } from '../exchange.ts';
import { documentedText, requestRefusal, toDetail } from '../request-refusal.ts';
import type { StagePlanner, PlannedOperation } from '../stage.ts';

/** The result of checking a request body: its violations, and the code and details to use for a refusal. */
export interface BodyFindings {
  readonly violations: readonly Violation[];
  /** Violations that are counted but never cause a refusal, because they all concern undocumented members. */
  readonly reported?: readonly Violation[];
  readonly code?: ErrorCode;
  readonly details?: readonly ErrorDetail[];
}

/** Checks a parsed request body against the operation's schema and the rules that a schema cannot express. */
type CheckBody = (body: unknown, exchange: Exchange) => Promise<BodyFindings> | BodyFindings;

/**
 * Returns the function that checks an operation's request bodies. Called once per operation, before the first request.
 */
export type PlanBodyCheck = (planned: PlannedOperation) => CheckBody;

/** Limits for request bodies. */
export interface BodyLimits {
  readonly bytes: number;
  readonly json: JsonLimits;
}

/** Reads and checks the request body, and forwards the original bytes upstream. */
export function validateBody(planCheck: PlanBodyCheck, limits: BodyLimits): StagePlanner {
  return {
    name: 'validate-body',
    plan(planned) {
      const { operation, checks, transparent } = planned;
      if (operation.requestBody === undefined) return undefined;
      const level = checks.requests;
      const check = planCheck(planned);
      return (next) => async (exchange) => {
        const read = await readBody(exchange.arrival.body, { bytes: limits.bytes });
        if (read.state === 'broken')
          throw new GatewayError('client_closed', 'The client disconnected before the request was complete.', {
            cause: read.error,
          });
        if (read.state === 'larger') {
          if (!transparent) throw tooLarge(read.stream, limits.bytes);
          if (exchange.trace.requests?.outcome !== 'reported')
            exchange.trace.requests = { level, outcome: 'skipped', reason: 'size' };
          return next({ ...exchange, body: detached(read.stream) });
        }
        const passed = { ...exchange, body: read.bytes };
        if (level === 'off') return next(passed);
        let findings: BodyFindings;
        try {
          findings = await inspect(read.bytes, passed, { check, limits });
        } catch (error) {
          if (!transparent) throw error;
          // The body has already been read, so it must be forwarded from memory.
          checkFailed(exchange.trace, 'requests', level, error);
          return next(passed);
        }
        const { violations, reported = [] } = findings;
        exchange.trace.violations.push(...oncePerKind(violations), ...reported);
        if (violations.length === 0) {
          if (reported.length > 0) exchange.trace.requests = { level, outcome: 'reported' };
          return next(passed);
        }
        exchange.trace.requests = toVerdict(level, violations);
        if (level !== 'enforce') return next(passed);
        throw refusal(operation, findings);
      };
    },
  };
}

function tooLarge(rest: Readable, limit: number): GatewayError {
  // The rest of the body is read and discarded until the connection is closed. Closing it with unread bytes would reset
  // the connection, and the client would lose the response.
  rest.on('error', () => undefined).resume();
  return new GatewayError('body_too_large', `The request body is larger than ${limit} bytes.`, {
    headers: { Connection: 'close' },
  });
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
  const type = headers['content-type'];
  if (type !== undefined && !/^application\/json\s*(?:;|$)/i.test(type))
    return {
      ...one('protocol', 'content-type', 'media-type', 'The body must be application/json.'),
      code: 'unsupported_media_type',
    };
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    return {
      ...one('protocol', 'content-encoding', 'coding', 'Content codings are not accepted; send the body without one.'),
      code: 'unsupported_media_type',
    };
  const parsed = parseBounded(bytes, limits.json);
  if (parsed.state === 'malformed') return one('format', '', 'json', 'The request body is not well-formed JSON.');
  if (parsed.state === 'excess') {
    const message = describeExcess('the request body', parsed.limit, limits.json);
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

/** The services used to check request bodies. */
interface CheckBodyServices {
  readonly schema: (operation: Operation, body: unknown) => readonly Violation[];
  readonly gdpr: GdprOptions;
  readonly comments: CommentsOptions;
  readonly hasPermission: (exchange: Exchange, permission: string) => boolean;
  readonly lookUp: FetchJson;
}

/** The findings from rules about request bodies. They never include advisories, which only schemas can cause. */
type RuleFindings = Omit<BodyFindings, 'reported'>;

/** Checks a body that is valid according to its schema. */
type RequestRule = (body: unknown, exchange: Exchange) => RuleFindings | Promise<RuleFindings>;

/** The rules about request bodies. Each function is called once per operation that names the rule. */
const RULES: Readonly<Record<RequestRuleName, (services: CheckBodyServices, checks: Checks) => RequestRule>> = {
  'gdpr-csv':
    ({ gdpr }) =>
    (body) =>
      csvFindings(body, gdpr),
  'comment-visibility': (services, checks) => {
    // Only an enforced check can refuse the request, so at other levels the visibility is not looked up.
    const looksUp = checks.requests === 'enforce';
    return (body, exchange) =>
      commentFindings(
        body,
        exchange,
        services,
        looksUp ? () => lookUpVisibility(exchange, services.lookUp) : unknownVisibility(exchange),
      );
  },
};

/**
 * Creates the function that plans the check of an operation's request bodies: first against the schema and then against
 * the rules that a schema cannot express.
 */
export function createCheckBody(services: CheckBodyServices): PlanBodyCheck {
  return ({ operation, checks }) => {
    const rules = operation.requestRules.map((name) => RULES[name](services, checks));
    return async (body, exchange) => {
      const found = services.schema(operation, body);
      const violations = found.filter((violation) => !isAdvisory(violation));
      const advisories = found.filter(isAdvisory);
      const reported = advisories.length === 0 ? {} : { reported: advisories };
      if (violations.length > 0) return { violations, ...reported };
      return { ...reported, ...(await ruleFindings(rules, body, exchange)) };
    };
  };
}

/** Runs all rules in order. If several rules find violations, the first of these rules determines the error code. */
async function ruleFindings(rules: readonly RequestRule[], body: unknown, exchange: Exchange): Promise<RuleFindings> {
  const found: RuleFindings[] = [];
  for (const rule of rules) {
    const findings = await rule(body, exchange);
    if (findings.violations.length > 0) found.push(findings);
  }
  const code = found[0]?.code;
  const hasDetails = found.some(({ details }) => details !== undefined);
  return {
    violations: found.flatMap(({ violations }) => violations),
    ...(code !== undefined && { code }),
    ...(hasDetails && { details: found.flatMap(({ violations, details }) => details ?? violations.map(toDetail)) }),
  };
}

function csvFindings(body: unknown, { maxRows }: GdprOptions): RuleFindings | Promise<RuleFindings> {
  const value = valueAt(body, '/content');
  const content = typeof value === 'string' ? value : '';
  return content.length > CSV_PART_LENGTH
    ? checkLongUploadCsv(content, { maxRows })
    : checkUploadCsv(content, { maxRows });
}

async function commentFindings(
  body: unknown,
  exchange: Exchange,
  services: CheckBodyServices,
  visibility: () => Promise<KnownVisibility>,
): Promise<RuleFindings> {
  const setsVisibility = valueAt(body, '/visibility') !== undefined || valueAt(body, '/recipients') !== undefined;
  // The rule applies only to bodies that set the visibility. For all other comments, the parent is not looked up.
  if (!setsVisibility) return { violations: [] };
  const refusals = checkCommentVisibility({
    body,
    ...(await visibility()),
    // If only the upstream knows the caller's permissions, the decision is left to the upstream.
    grants: (permission) => exchange.delegated || services.hasPermission(exchange, permission),
    options: services.comments,
  });
  const [first] = refusals;
  if (first === undefined) return { violations: [] };
  return {
    code: first.code,
    details: refusals.map(({ detail }) => detail),
    violations: refusals.map(({ code, message, detail }) => ({
      check: 'requests',
      direction: 'request',
      category: 'semantic',
      location: 'body',
      at: detail.name ?? '',
      keyword: code,
      schemaPath: '',
      message,
    })),
  };
}

/** The visibility of the parent comment and the current visibility of the comment itself. */
type KnownVisibility = Pick<CommentWrite, 'parentVisibility' | 'ownVisibility'>;

const UNKNOWN = { known: false } as const;

/**
 * Returns what is known about a comment's visibility without a lookup. A new comment has no visibility yet. The
 * visibility of an existing comment is unknown.
 */
function unknownVisibility({ values }: Exchange): () => Promise<KnownVisibility> {
  const changed = values().path['commentId'] !== undefined;
  return () => Promise.resolve({ parentVisibility: UNKNOWN, ...(changed ? { ownVisibility: UNKNOWN } : {}) });
}

/** Looks up the parent of a new comment, or an existing comment and its parent. */
async function lookUpVisibility(exchange: Exchange, lookUp: FetchJson): Promise<KnownVisibility> {
  const { nodeId, commentId } = exchange.values().path;
  if (commentId === undefined) {
    const node = nodeId === undefined ? undefined : await readComment(nodeId, exchange.principal, lookUp);
    return { parentVisibility: visibilityOf(node) };
  }
  const comment = await readComment(commentId, exchange.principal, lookUp);
  const ownVisibility = visibilityOf(comment);
  const parent = valueAt(comment, '/originalParentId');
  if (typeof parent !== 'number' && typeof parent !== 'string') return { ownVisibility, parentVisibility: UNKNOWN };
  return {
    ownVisibility,
    parentVisibility: visibilityOf(await readComment(String(parent), exchange.principal, lookUp)),
  };
}

async function readComment(id: string, principal: Principal, lookUp: FetchJson): Promise<unknown> {
  return /^\d{1,19}$/.test(id) ? lookUp(`/services/v2/comment/${id}.json`, principal) : undefined;
}

/**
 * Returns the visibility of a comment. The visibility of anything else, such as a question or a comment that could not
 * be read, is unknown.
 */
function visibilityOf(comment: unknown): ParentVisibility {
  const type = valueAt(comment, '/type');
  if (type !== 'comment' && type !== 'ideacomment') return UNKNOWN;
  const visibility = valueAt(comment, '/visibility');
  return { known: true, visibility: typeof visibility === 'string' ? visibility : undefined };
}
