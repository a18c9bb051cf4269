import { htmlErrorPage } from '../answers/html-error-page.ts';
import { jsonAnswer, type LegacyAnswer } from '../answers/legacy-answer.ts';
import { missingPermission, plainError } from '../answers/legacy-errors.ts';
import type { Fault } from './fault.ts';

function replacement({ name, parameter }: Fault): LegacyAnswer | undefined {
  switch (name) {
    case '500':
      return plainError(500, parameter ?? 'An internal error occurred.');
    case 'html':
      return htmlErrorPage(Number(parameter ?? 401), 'The request could not be completed');
    case 'error-in-200':
      return parameter === 'permission'
        ? { ...missingPermission(), status: 200 }
        : jsonAnswer({ error: 'An internal error occurred.' });
    default:
      return undefined;
  }
}

/** The answer that the first replacing fault gives instead of running the operation; undefined when there is none. */
export function replaceAnswer(faults: readonly Fault[]): LegacyAnswer | undefined {
  for (const fault of faults) {
    const answer = replacement(fault);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
