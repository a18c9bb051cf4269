import { ERROR_INSIDE, type Trace } from '../model/trace.ts';

/** An answer that was judged under enforce: for whom, and whether it was refused. */
export interface JudgedAnswer {
  /** The verified caller's name; empty for everybody else, since other names can be made up. */
  readonly caller: string;
  readonly failed: boolean;
}

// A page or a broken body in place of an answer says that the upstream is down, not that the specification is wrong.
const OUTAGES: ReadonlySet<string> = new Set(['html', 'json']);

/**
 * What a finished request says of enforcing `responses`: undefined where nothing was judged under enforce, and where the
 * upstream failed instead of answering (no answer, an error status, an HTML page, no JSON, an error inside a success).
 */
export function judgedAnswer(trace: Trace): JudgedAnswer | undefined {
  const { responses, upstream, authentication } = trace;
  if (responses?.level !== 'enforce' || responses.outcome === 'skipped') return undefined;
  const status = upstream?.status;
  if (status === undefined || status < 200 || status > 299) return undefined;
  const failed = responses.outcome === 'refused';
  if (failed && (responses.reason === ERROR_INSIDE || isOutage(trace))) return undefined;
  const caller = authentication?.principal === 'verified' ? (trace.caller ?? '') : '';
  return { caller, failed };
}

function isOutage({ violations }: Trace): boolean {
  return violations.some(
    ({ check, category, keyword }) => check === 'responses' && category === 'protocol' && OUTAGES.has(keyword),
  );
}
