import {
  checkCommentVisibility,
  type CommentWrite,
  type ParentVisibility,
} from '../comments/check-comment-visibility.ts';
import type { CommentsOptions } from '../comments/comments-options.ts';
import type { ErrorCode } from '../errors/catalogue.ts';
import type { ErrorDetail } from '../errors/gateway-error.ts';
import { checkLongUploadCsv, checkUploadCsv, CSV_PART_LENGTH } from '../gdpr/check-upload-csv.ts';
import type { GdprOptions } from '../gdpr/gdpr-options.ts';
import { valueAt } from '../lib/json-pointer.ts';
import { isPlainObject } from '../lib/plain-object.ts';
import type { Checks } from '../model/checks.ts';
import type { Operation, RequestRuleName } from '../model/operation.ts';
import type { Principal } from '../model/principal.ts';
import { isAdvisory, type Violation } from '../model/violation.ts';
import type { FetchJson } from '../permissions/ownership.ts';
import type { Exchange } from './exchange.ts';
import { toDetail } from './request-refusal.ts';
import type { PlannedOperation } from './stage.ts';

/** The result of checking a request body: its violations, and the code and details to use for a refusal. */
export interface BodyFindings {
  readonly violations: readonly Violation[];
  /** Violations that are counted but never cause a refusal, because they are all due to undocumented members. */
  readonly reported?: readonly Violation[];
  /** A text that is the same for all bodies with the same content, whatever their form. */
  readonly identity?: string;
  /** The body to forward instead of the client's, outside `observe` mode. */
  readonly forwarded?: Buffer;
  readonly code?: ErrorCode;
  readonly details?: readonly ErrorDetail[];
}

/** Checks a parsed request body against the operation's schema and the rules that a schema cannot express. */
export type CheckBody = (body: unknown, exchange: Exchange) => Promise<BodyFindings> | BodyFindings;

/**
 * Returns the function that checks an operation's request bodies. Called once per operation, before the first request.
 */
export type PlanBodyCheck = (planned: PlannedOperation) => CheckBody;

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
    found.push(findings);
  }
  const code = found.find(({ violations }) => violations.length > 0)?.code;
  const identity = found.find((one) => one.identity !== undefined)?.identity;
  const forwarded = found.find((one) => one.forwarded !== undefined)?.forwarded;
  const hasDetails = found.some(({ details }) => details !== undefined);
  return {
    violations: found.flatMap(({ violations }) => violations),
    ...(code !== undefined && { code }),
    ...(identity !== undefined && { identity }),
    ...(forwarded !== undefined && { forwarded }),
    ...(hasDetails && { details: found.flatMap(({ violations, details }) => details ?? violations.map(toDetail)) }),
  };
}

async function csvFindings(body: unknown, { maxRows }: GdprOptions): Promise<RuleFindings> {
  const value = valueAt(body, '/content');
  const content = typeof value === 'string' ? value : '';
  const { violations, details, identity } =
    content.length > CSV_PART_LENGTH
      ? await checkLongUploadCsv(content, { maxRows })
      : checkUploadCsv(content, { maxRows });
  const members = isPlainObject(body) ? body : {};
  const { content: _, ...others } = members;
  const sorted = Object.entries(others).sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    violations,
    details,
    ...(identity !== undefined && { identity: JSON.stringify([identity, sorted]) }),
    // The server would take a byte order mark for a part of the first column's name.
    ...(content.startsWith('\uFEFF') && {
      forwarded: Buffer.from(JSON.stringify({ ...members, content: content.slice(1) })),
    }),
  };
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
      category: code === 'visibility_not_permitted' ? 'permission' : 'semantic',
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
