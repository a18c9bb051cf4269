import { plainError, refuse } from '../http/errors.ts';

/** A recipient in a comment write. */
export interface DraftRecipient {
  readonly id: number;
  readonly type: 'group' | 'user';
}

/** The body of a comment write; absent parts stay unchanged. */
export interface CommentDraft {
  readonly body?: string;
  readonly visibility?: string;
  readonly recipients?: readonly DraftRecipient[];
}

function readRecipient(value: unknown): DraftRecipient {
  const { id, type } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;
  if (!Number.isSafeInteger(number) || (type !== 'group' && type !== 'user')) {
    refuse(plainError(400, "Each of 'recipients' needs an id and a type, which must be group or user."));
  }
  return { id: number as number, type };
}

function absent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** Parses the body of a comment write; refuses an invalid one with 400. */
export function readCommentDraft(value: unknown, needs: 'with body' | 'any part'): CommentDraft {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(plainError(400, 'The comment is missing.'));
  const { body, visibility, recipients } = value as Record<string, unknown>;
  const bodyMissing = absent(body) && needs === 'with body';
  if (bodyMissing || (!absent(body) && (typeof body !== 'string' || body.trim() === ''))) {
    refuse(plainError(400, "The 'body' is missing."));
  }
  if (!absent(visibility) && typeof visibility !== 'string')
    refuse(plainError(400, "The 'visibility' must be a string."));
  if (!absent(recipients) && !Array.isArray(recipients)) refuse(plainError(400, "The 'recipients' must be a list."));
  return {
    ...(typeof body === 'string' ? { body } : {}),
    ...(absent(visibility) ? {} : { visibility }),
    ...(Array.isArray(recipients) && recipients.length > 0 ? { recipients: recipients.map(readRecipient) } : {}),
  };
}
