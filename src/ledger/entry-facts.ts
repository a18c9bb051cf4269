import type { Violation } from '../model/violation.ts';
import { harmless } from './harmless.ts';
import type { ViolationKind } from './fingerprint.ts';
import type { EntryFacts } from './ledger-batch.ts';

/** What a ledger keeps of a violation; nothing in it is a value of a message. */
export function entryFactsOf(operation: string | undefined, kind: ViolationKind, violation: Violation): EntryFacts {
  const { check, direction, category, location, keyword, schemaPath, candidate } = violation;
  return {
    fingerprint: kind.fingerprint,
    operation,
    status: kind.status,
    check,
    direction,
    category,
    location,
    keyword,
    schemaPath,
    at: kind.at,
    message: sentenceOf(kind, violation),
    suggestion: harmless(violation.suggestion),
    ...(candidate !== undefined && { candidate }),
  };
}

function sentenceOf({ at }: ViolationKind, violation: Violation): string {
  // A place that had to be altered may be quoted in the sentence too.
  if (at !== violation.at && at.includes('?')) return `breaks the rule ${violation.keyword}`;
  const sentence = violation.at === '' ? violation.message : violation.message.replaceAll(violation.at, at);
  return harmless(sentence) ?? `breaks the rule ${violation.keyword}`;
}
