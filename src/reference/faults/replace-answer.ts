import { htmlErrorPage } from '../answers/html-error-page.ts';
import type { LegacyAnswer } from '../answers/legacy-answer.ts';
import { missingPermission, plainError } from '../answers/legacy-errors.ts';
import type { FaultName } from './fault-names.ts';
import type { Fault } from './fault.ts';

type Replacement = (parameter: string | undefined) => LegacyAnswer;

const REPLACEMENTS: Partial<Readonly<Record<FaultName, Replacement>>> = {
  '500': (message) => plainError(500, message ?? 'An internal error occurred.'),
  html: (status) => htmlErrorPage(Number(status ?? 401), 'The request could not be completed'),
  'error-in-200': (kind) =>
    kind === 'permission' ? { ...missingPermission(), status: 200 } : plainError(200, 'An internal error occurred.'),
};

/** The answer that the first replacing fault gives instead of running the operation; undefined when there is none. */
export function replaceAnswer(faults: readonly Fault[]): LegacyAnswer | undefined {
  for (const { name, parameter } of faults) {
    const answer = REPLACEMENTS[name]?.(parameter);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
