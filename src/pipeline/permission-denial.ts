import type { Operation } from '../model/operation.ts';
import type { UpstreamAnswer } from '../model/upstream-response.ts';
import { readError } from '../upstream/error-shape.ts';
import type { PermissionMessage } from '../upstream/permission-message.ts';

/** True for an answer by which the upstream says that this caller lacks a permission, in whichever shape it says so. */
export function isPermissionDenial(
  operation: Operation,
  answer: UpstreamAnswer,
  isMessage: PermissionMessage,
): boolean {
  if (answer.status !== 401 && answer.status !== 403) return false;
  const { message, otherMessage, isJson } = readError(answer);
  if (answer.status === 403 && isJson) return true;
  return [message, otherMessage].some((text) => text !== undefined && isMessage(text, operation.documentedErrors));
}
