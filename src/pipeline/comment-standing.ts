import type { CommentWrite, ParentVisibility } from '../comments/check-comment-visibility.ts';
import { valueAt } from '../lib/json-pointer.ts';
import type { Principal } from '../model/principal.ts';
import type { Exchange } from './exchange.ts';
import type { LookUp } from './look-up.ts';

/** What a comment's visibility is held against: that of what it replies to, and the one that it has itself. */
export type Standing = Pick<CommentWrite, 'parentVisibility' | 'ownVisibility'>;

const UNKNOWN = { known: false } as const;

/** A new comment has no visibility yet; one that is changed has one that nobody looked up. */
export function nothingKnown({ values }: Exchange): () => Promise<Standing> {
  const changed = values().path['commentId'] !== undefined;
  return () => Promise.resolve({ parentVisibility: UNKNOWN, ...(changed ? { ownVisibility: UNKNOWN } : {}) });
}

/** Looks up the node that is replied to, or the comment that is changed and its parent. */
export async function standingOf(exchange: Exchange, lookUp: LookUp): Promise<Standing> {
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

async function readComment(id: string, principal: Principal, lookUp: LookUp): Promise<unknown> {
  return /^\d{1,19}$/.test(id) ? lookUp(`/services/v2/comment/${id}.json`, principal) : undefined;
}

/** What is no readable comment (a question, say) limits nothing that we know of. */
function visibilityOf(comment: unknown): ParentVisibility {
  const type = valueAt(comment, '/type');
  if (type !== 'comment' && type !== 'ideacomment') return UNKNOWN;
  const visibility = valueAt(comment, '/visibility');
  return { known: true, visibility: typeof visibility === 'string' ? visibility : undefined };
}
