import { looksSecret } from '../lib/looks-secret.ts';
import type { Violation } from '../model/violation.ts';
import type { ViolationKind } from './fingerprint.ts';
import type { EntryFacts } from './ledger-batch.ts';

const MAX_TEXT = 300;

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

/** A description of what was found, unless it could be more than a description. */
export function foundOf({ found }: Violation): string | undefined {
  return harmless(found);
}

function sentenceOf({ at }: ViolationKind, violation: Violation): string {
  // A place that had to be altered may be quoted in the sentence too.
  if (at !== violation.at && at.includes('?')) return `breaks the rule ${violation.keyword}`;
  const sentence = violation.at === '' ? violation.message : violation.message.replaceAll(violation.at, at);
  return harmless(sentence) ?? `breaks the rule ${violation.keyword}`;
}

/** Findings are worded without values; this is for the day on which one is not. */
function harmless(text: string | undefined): string | undefined {
  return text === undefined || looksSecret(text) ? undefined : text.slice(0, MAX_TEXT);
}
