import type { CheckedRequest, RequestRule, RuleFindings } from '../../engine/contract/rules.ts';
import { valueAt } from '../../lib/json-pointer.ts';
import {
  COMMENT_ERRORS,
  checkCommentVisibility,
  type CommentWrite,
  type ParentVisibility,
} from './check-comment-visibility.ts';
import { type CommentsOptions, privateValues } from './options.ts';

/** Checks the visibility and the recipients of a comment (docs/rules.md §10). */
export const commentVisibility: RequestRule = {
  name: 'comment-visibility',
  description:
    "`visibility` and `recipients` are consistent with each other, the parent comment and the caller's permissions.",
  optionsKey: 'comments',
  plan(options, checks) {
    const visibilityOptions = privateValues(options as CommentsOptions);
    // Only an enforced check can refuse the request, so at other levels the visibility is not looked up.
    const find = checks.requests === 'enforce' ? lookUpVisibility : unknownVisibility;
    return (body, request) => commentFindings(body, request, { visibilityOptions }, find);
  },
};

async function commentFindings(
  body: unknown,
  request: CheckedRequest,
  options: CommentsOptions,
  find: (request: CheckedRequest) => KnownVisibility | Promise<KnownVisibility>,
): Promise<RuleFindings> {
  const setsVisibility = valueAt(body, '/visibility') !== undefined || valueAt(body, '/recipients') !== undefined;
  // The rule applies only to bodies that set the visibility. For all other comments, the parent is not looked up.
  if (!setsVisibility) return { violations: [] };
  const refusals = checkCommentVisibility({ body, ...(await find(request)), grants: request.mayUse, options });
  const [first] = refusals;
  if (first === undefined) return { violations: [] };
  return {
    code: COMMENT_ERRORS[first.code],
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
function unknownVisibility({ parameters }: CheckedRequest): KnownVisibility {
  const isChange = parameters().path['commentId'] !== undefined;
  return { parentVisibility: UNKNOWN, ...(isChange ? { ownVisibility: UNKNOWN } : {}) };
}

/** Looks up the parent of a new comment, or an existing comment and its parent. */
async function lookUpVisibility({ parameters, lookUp }: CheckedRequest): Promise<KnownVisibility> {
  const { nodeId, commentId } = parameters().path;
  const read = async (id: string) => (/^\d{1,19}$/.test(id) ? lookUp(`/services/v2/comment/${id}.json`) : undefined);
  if (commentId === undefined)
    return { parentVisibility: visibilityOf(nodeId === undefined ? undefined : await read(nodeId)) };
  const comment = await read(commentId);
  const ownVisibility = visibilityOf(comment);
  const parent = valueAt(comment, '/originalParentId');
  if (typeof parent !== 'number' && typeof parent !== 'string') return { ownVisibility, parentVisibility: UNKNOWN };
  return { ownVisibility, parentVisibility: visibilityOf(await read(String(parent))) };
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
