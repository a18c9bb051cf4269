import {
  checkCommentVisibility,
  type CommentWrite,
  type ParentVisibility,
} from '../comments/check-comment-visibility.ts';
import type { CommentsOptions } from '../comments/comments-options.ts';
import { isAdvisory } from '../contract/explain/unknown-field.ts';
import { checkUploadCsv } from '../gdpr/check-upload-csv.ts';
import type { GdprOptions } from '../gdpr/gdpr-options.ts';
import { valueAt } from '../lib/json-pointer.ts';
import type { Checks } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';
import type { Principal } from '../model/principal.ts';
import type { Violation } from '../model/violation.ts';
import type { Exchange } from './exchange.ts';
import type { Lookup } from './look-up.ts';
import type { BodyFindings, CheckBody } from './stages/validate-body.ts';

/** What checks of request bodies are made with. */
interface CheckBodyServices {
  readonly schema: (operation: Operation, body: unknown) => readonly Violation[];
  readonly gdpr: GdprOptions;
  readonly comments: CommentsOptions;
  readonly holds: (exchange: Exchange, permission: string) => boolean;
  readonly lookUp: Lookup;
}

/** Checks a request body against its schema first, then against the rule that no schema says. */
export function createCheckBody(services: CheckBodyServices): CheckBody {
  return async ({ operation, checks }, body, exchange) => {
    const found = services.schema(operation, body);
    const violations = found.filter((violation) => !isAdvisory(violation));
    const told = found.filter(isAdvisory);
    const reported = told.length === 0 ? {} : { reported: told };
    if (violations.length > 0) return { violations, ...reported };
    return { ...reported, ...(await ruleFindings(operation, checks, body, exchange)) };
  };

  async function ruleFindings(
    operation: Operation,
    checks: Checks,
    body: unknown,
    exchange: Exchange,
  ): Promise<BodyFindings> {
    if (operation.requestRules.includes('gdpr-csv')) return csvFindings(body, services.gdpr);
    if (operation.requestRules.includes('comment-visibility')) {
      // Nothing is looked up for a request that is not going to be refused.
      const standing =
        checks.requests === 'enforce' ? () => standingOf(exchange, services.lookUp) : nothingKnown(exchange);
      return commentFindings(body, exchange, services, standing);
    }
    return { violations: [] };
  }
}

function csvFindings(body: unknown, { maxRows }: GdprOptions): BodyFindings {
  const content = valueAt(body, '/content');
  const { violations, details } = checkUploadCsv(typeof content === 'string' ? content : '', { maxRows });
  return { violations, details };
}

async function commentFindings(
  body: unknown,
  exchange: Exchange,
  services: CheckBodyServices,
  standing: () => Promise<FindingStatus>,
): Promise<BodyFindings> {
  const says = valueAt(body, '/visibility') !== undefined || valueAt(body, '/recipients') !== undefined;
  // Only a body that speaks of visibility can break a rule about it, and only then is the parent worth a look-up.
  if (!says) return { violations: [] };
  const refusals = checkCommentVisibility({
    body,
    ...(await standing()),
    // A caller whom only the upstream knows is judged there.
    grants: (permission) => exchange.delegated || services.holds(exchange, permission),
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

/** What a comment's visibility is held against: that of what it replies to, and the one that it has itself. */
type FindingStatus = Pick<CommentWrite, 'parentVisibility' | 'ownVisibility'>;

const UNKNOWN = { known: false } as const;

/** A new comment has no visibility yet; one that is changed has one that nobody looked up. */
function nothingKnown({ values }: Exchange): () => Promise<FindingStatus> {
  const changed = values().path['commentId'] !== undefined;
  return () => Promise.resolve({ parentVisibility: UNKNOWN, ...(changed ? { ownVisibility: UNKNOWN } : {}) });
}

/** Looks up the node that is replied to, or the comment that is changed and its parent. */
async function standingOf(exchange: Exchange, lookUp: Lookup): Promise<FindingStatus> {
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

async function readComment(id: string, principal: Principal, lookUp: Lookup): Promise<unknown> {
  return /^\d{1,19}$/.test(id) ? lookUp(`/services/v2/comment/${id}.json`, principal) : undefined;
}

/** What is no readable comment (a question, say) limits nothing that we know of. */
function visibilityOf(comment: unknown): ParentVisibility {
  const type = valueAt(comment, '/type');
  if (type !== 'comment' && type !== 'ideacomment') return UNKNOWN;
  const visibility = valueAt(comment, '/visibility');
  return { known: true, visibility: typeof visibility === 'string' ? visibility : undefined };
}
