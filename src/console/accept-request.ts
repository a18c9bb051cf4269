import { endOfDay, isDay } from '../ledger/day.ts';
import type { AcceptedViolation } from '../model/baseline.ts';

/** What an operator said of a violation to be accepted, or what is wrong with it. */
export type AcceptRequest =
  | { readonly ok: true; readonly accepted: AcceptedViolation }
  | { readonly ok: false; readonly field: 'reason' | 'owner' | 'expires'; readonly message: string };

const MAX = { reason: 500, owner: 100 };

/** Reads reason, owner and the last day from a body. */
export function readAcceptRequest(
  body: unknown,
  about: { readonly fingerprint: string; readonly summary: string; readonly now: number },
): AcceptRequest {
  const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const reason = textOf(given['reason']);
  const owner = textOf(given['owner']);
  const end = given['expires'] ?? '';
  const expires = textOf(end);
  if (reason === '' || reason.length > MAX.reason)
    return refuse('reason', `Say why it is accepted, in at most ${MAX.reason} characters.`);
  if (owner === '' || owner.length > MAX.owner)
    return refuse('owner', `Name who answers for it, in at most ${MAX.owner} characters.`);
  // An end that cannot be read is not taken for none.
  if (typeof end !== 'string' || (expires !== '' && !isDay(expires)))
    return refuse('expires', 'Give the last day as YYYY-MM-DD, or leave it empty.');
  if (expires !== '' && endOfDay(expires) <= about.now)
    return refuse('expires', 'The last day is over; give one to come, or leave it empty.');
  const { fingerprint, summary } = about;
  return { ok: true, accepted: { fingerprint, reason, owner, expires: expires === '' ? undefined : expires, summary } };
}

type Field = Exclude<AcceptRequest, { ok: true }>['field'];

const refuse = (field: Field, message: string) => ({ ok: false, field, message }) as const;

// One line: what is accepted is read in a file, line by line.
const textOf = (value: unknown) => (typeof value === 'string' ? value.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim() : '');
