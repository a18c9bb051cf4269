import type { ErrorKind } from '../../engine/errors/catalogue.ts';
import type { ErrorDetail } from '../../engine/errors/gateway-error.ts';
import { valueAt } from '../../lib/json-pointer.ts';
import { type CommentsOptions, RECIPIENTS, SEND_PERMISSIONS, USE_PRIVATE_COMMENTS } from './options.ts';

/** The parent comment's visibility. If `known` is true and `visibility` is undefined, the parent comment is public. */
export type ParentVisibility =
  { readonly known: true; readonly visibility: string | undefined } | { readonly known: false };

/** The errors of the three documented reasons for refusing a comment. */
export const COMMENT_ERRORS = {
  visibility_not_inherited: {
    code: 'visibility_not_inherited',
    status: 400,
    title: 'Visibility is inherited and cannot change',
  },
  recipients_without_visibility: {
    code: 'recipients_without_visibility',
    status: 400,
    title: 'Recipients require the visibility "recipients"',
  },
  visibility_not_permitted: { code: 'visibility_not_permitted', status: 400, title: 'Visibility not permitted' },
} as const satisfies Record<string, ErrorKind>;

/** One of the three documented reasons for refusing a comment with status 400. */
interface CommentRefusal {
  readonly code: keyof typeof COMMENT_ERRORS;
  readonly message: string;
  readonly detail: ErrorDetail;
}

/** A request to write a comment, and its author's permissions. */
export interface CommentWrite {
  /** The parsed request body. */
  readonly body: unknown;
  readonly parentVisibility: ParentVisibility;
  /** The current visibility of the comment being changed. Undefined for a new comment. */
  readonly ownVisibility?: ParentVisibility;
  readonly grants: (permission: string) => boolean;
  readonly options: CommentsOptions;
}

/**
 * Checks a comment against the three documented reasons for refusing it (docs/rules.md §10). Returns all reasons that
 * apply, in the documented order. If the parent is unknown, or if the visibility is not one of the private options, the
 * upstream decides.
 */
export function checkCommentVisibility(write: CommentWrite): CommentRefusal[] {
  const { body, parentVisibility: parent, ownVisibility, grants, options } = write;
  const given = valueAt(body, '/visibility');
  const visibility = typeof given === 'string' ? given : undefined;
  const inherited = parent.known && optionOf(options, parent.visibility) !== undefined ? parent.visibility : undefined;
  const refusals: CommentRefusal[] = [];

  if (visibility !== undefined && inherited !== undefined && visibility !== inherited) {
    const message = 'a reply to a comment of limited visibility inherits that visibility, which cannot be changed';
    refusals.push(refusal('visibility_not_inherited', '/visibility', message));
  }
  // A client that sends back a comment it has read may include `recipients` as null or an empty list.
  const recipients = valueAt(body, '/recipients') ?? [];
  const hasRecipients = !Array.isArray(recipients) || recipients.length > 0;
  const own = ownVisibility?.known === true ? ownVisibility.visibility : undefined;
  const unknown = visibility === undefined && inherited === undefined && ownVisibility?.known === false;
  if (hasRecipients && !unknown && (visibility ?? inherited ?? own) !== RECIPIENTS) {
    const message = `recipients can be set only while visibility is ${RECIPIENTS}`;
    refusals.push(refusal('recipients_without_visibility', '/recipients', message));
  }
  const option = optionOf(options, visibility);
  const missing = option && [USE_PRIVATE_COMMENTS, SEND_PERMISSIONS[option]].find((permission) => !grants(permission));
  if (missing !== undefined) {
    const message = 'this visibility needs a permission that the caller does not have';
    refusals.push(refusal('visibility_not_permitted', '/visibility', message, missing));
  }
  return refusals;
}

/** Returns the kind of recipients that a visibility represents, or undefined if it is not a private option. */
function optionOf({ visibilityOptions }: CommentsOptions, visibility = '') {
  return Object.hasOwn(visibilityOptions, visibility) ? visibilityOptions[visibility] : undefined;
}

function refusal(code: CommentRefusal['code'], name: string, message: string, permission?: string): CommentRefusal {
  return { code, message, detail: { in: 'body', name, message, ...(permission === undefined ? {} : { permission }) } };
}
