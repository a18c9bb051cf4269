import { checkCommentVisibility, type ParentVisibility } from '../comments/check-comment-visibility.ts';
import type { CommentsOptions } from '../comments/comments-options.ts';
import { checkUploadCsv } from '../gdpr/check-upload-csv.ts';
import type { GdprOptions } from '../gdpr/gdpr-options.ts';
import type { Operation } from '../model/operation.ts';
import type { Principal } from '../model/principal.ts';
import type { Violation } from '../model/violation.ts';
import type { Exchange } from './exchange.ts';
import { type LookUp, valueAt } from './look-up.ts';
import type { BodyFindings, CheckBody } from './stages/validate-body.ts';

/** What checks of request bodies are made with. */
export interface CheckBodyServices {
  readonly schema: (operation: Operation, body: unknown) => readonly Violation[];
  readonly gdpr: GdprOptions;
  readonly comments: CommentsOptions;
  readonly holds: (exchange: Exchange, permission: string) => boolean;
  readonly lookUp: LookUp;
}

/** Checks a request body against its schema first, then against the rule that no schema says. */
export function createCheckBody(services: CheckBodyServices): CheckBody {
  return async ({ operation, checks }, body, exchange) => {
    const violations = services.schema(operation, body);
    if (violations.length > 0) return { violations };
    if (operation.requestRules.includes('gdpr-csv')) return csvFindings(body, services.gdpr);
    if (operation.requestRules.includes('comment-visibility')) {
      // Nothing is looked up for a request that is not going to be refused.
      const parent = checks.requests === 'enforce' ? () => parentOf(exchange, services.lookUp) : unknownParent;
      return commentFindings(body, exchange, services, parent);
    }
    return { violations: [] };
  };
}

function csvFindings(body: unknown, { maxRows }: GdprOptions): BodyFindings {
  const content = valueAt(body, '/content');
  const { violations, details } = checkUploadCsv(typeof content === 'string' ? content : '', { maxRows });
  return { violations, details };
}

const unknownParent = (): Promise<ParentVisibility> => Promise.resolve({ known: false });

async function commentFindings(
  body: unknown,
  exchange: Exchange,
  services: CheckBodyServices,
  parent: () => Promise<ParentVisibility>,
): Promise<BodyFindings> {
  const says = valueAt(body, '/visibility') !== undefined || valueAt(body, '/recipients') !== undefined;
  // Only a body that speaks of visibility can break a rule about it, and only then is the parent worth a look-up.
  if (!says) return { violations: [] };
  const refusals = checkCommentVisibility({
    body,
    parentVisibility: await parent(),
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

/** The visibility that is inherited: of the node that is replied to, or of the parent of the comment that is changed. */
async function parentOf(exchange: Exchange, lookUp: LookUp): Promise<ParentVisibility> {
  const { nodeId, commentId } = exchange.values.path;
  if (commentId !== undefined) {
    const comment = await readComment(commentId, exchange.principal, lookUp);
    const parent = String(valueAt(comment, '/originalParentId'));
    return visibilityOf(await readComment(parent, exchange.principal, lookUp));
  }
  return nodeId === undefined ? { known: false } : visibilityOf(await readComment(nodeId, exchange.principal, lookUp));
}

async function readComment(id: string, principal: Principal, lookUp: LookUp): Promise<unknown> {
  return /^\d{1,19}$/.test(id) ? lookUp(`/services/v2/comment/${id}.json`, principal) : undefined;
}

/** What is no readable comment (a question, say) limits nothing that we know of. */
function visibilityOf(comment: unknown): ParentVisibility {
  if (valueAt(comment, '/type') !== 'comment') return { known: false };
  const visibility = valueAt(comment, '/visibility');
  return { known: true, visibility: typeof visibility === 'string' ? visibility : undefined };
}
