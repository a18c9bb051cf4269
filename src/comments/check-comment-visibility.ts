import type { ErrorDetail } from '../errors/gateway-error.ts';
import { type CommentsOptions, RECIPIENTS, SEND_PERMISSIONS, USE_PRIVATE_COMMENTS } from './comments-options.ts';

/** The visibility of the parent comment. A known but undefined visibility means that the parent comment is public. */
export type ParentVisibility =
  { readonly known: true; readonly visibility: string | undefined } | { readonly known: false };

/** One of the three documented reasons for refusing a comment with status 400. */
interface CommentRefusal {
  readonly code: 'visibility_not_inherited' | 'recipients_without_visibility' | 'visibility_not_permitted';
  readonly message: string;
  readonly detail: ErrorDetail;
}

/** A request to write a comment, with its author's permissions. */
export interface CommentWrite {
  /** The parsed request body. */
  readonly body: unknown;
  readonly parentVisibility: ParentVisibility;
  /** The current visibility of a comment that is being changed. Undefined for a new comment. */
  readonly ownVisibility?: ParentVisibility;
  readonly grants: (permission: string) => boolean;
  readonly options: CommentsOptions;
}

/**
 * Checks a comment against the three documented reasons for refusing it (rules, 10). Returns all reasons that apply, in
 * the order of the documentation. If the parent is unknown, or if the visibility is not one of the private options, the
 * upstream decides.
 */
export function checkCommentVisibility({
  body,
  parentVisibility,
  ownVisibility,
  grants,
  options,
}: CommentWrite): CommentRefusal[] {
  const visibility = textMember(body, 'visibility');
  const inherited = parentVisibility.known ? limited(parentVisibility.visibility, options) : undefined;
  const refusals: CommentRefusal[] = [];

  if (visibility !== undefined && inherited !== undefined && visibility !== inherited) {
    const message = 'a reply to a comment of limited visibility inherits that visibility, which cannot be changed';
    refusals.push(refusal('visibility_not_inherited', '/visibility', message));
  }
  const own = ownVisibility?.known === true ? ownVisibility.visibility : undefined;
  const unknown = visibility === undefined && inherited === undefined && ownVisibility?.known === false;
  if (hasRecipients(body) && !unknown && (visibility ?? inherited ?? own) !== RECIPIENTS) {
    const message = `recipients can be set only while visibility is ${RECIPIENTS}`;
    refusals.push(refusal('recipients_without_visibility', '/recipients', message));
  }
  const missing = visibility === undefined ? undefined : missingPermission(visibility, grants, options);
  if (missing !== undefined) {
    const message = 'this visibility needs a permission that the caller does not have';
    refusals.push(refusal('visibility_not_permitted', '/visibility', message, missing));
  }
  return refusals;
}

function limited(visibility: string | undefined, options: CommentsOptions): string | undefined {
  return visibility !== undefined && Object.hasOwn(options.visibilityOptions, visibility) ? visibility : undefined;
}

function missingPermission(
  visibility: string,
  grants: (permission: string) => boolean,
  options: CommentsOptions,
): string | undefined {
  const option = Object.hasOwn(options.visibilityOptions, visibility)
    ? options.visibilityOptions[visibility]
    : undefined;
  if (option === undefined) return undefined;
  return [USE_PRIVATE_COMMENTS, SEND_PERMISSIONS[option]].find((permission) => !grants(permission));
}

function refusal(code: CommentRefusal['code'], name: string, message: string, permission?: string): CommentRefusal {
  return { code, message, detail: { in: 'body', name, message, ...(permission === undefined ? {} : { permission }) } };
}

function member(body: unknown, name: string): unknown {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return undefined;
  return (body as Record<string, unknown>)[name];
}

function textMember(body: unknown, name: string): string | undefined {
  const value = member(body, name);
  return typeof value === 'string' ? value : undefined;
}

// A client that sends a comment back may include null or an empty list, neither of which contains recipients.
function hasRecipients(body: unknown): boolean {
  const recipients = member(body, 'recipients');
  if (recipients === undefined || recipients === null) return false;
  return !Array.isArray(recipients) || recipients.length > 0;
}
