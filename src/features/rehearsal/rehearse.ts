import type { Cancellation } from '../../engine/model/arrival.ts';
import { UpstreamFailure } from '../../engine/model/upstream-failure.ts';
import type { Violation } from '../../engine/model/violation.ts';
import type { Exchange } from '../../engine/pipeline/exchange.ts';
import type { Reply } from '../../engine/pipeline/reply.ts';
import type { RequestForm, RequestRepeater } from '../../engine/pipeline/repeat-request.ts';
import {
  type BuiltResponseFacts,
  builtFactsOf,
  changedProperties,
  type Difference,
  differencesOf,
  factsOf,
  hasChanged,
  type ResponseFacts,
} from './compare-responses.ts';

/** A client's request, and the response that the client received. */
export interface RehearsedExchange {
  readonly exchange: Exchange;
  readonly reply: Reply & { readonly body: Buffer };
}

/** How a rehearsal ended, and the differences that it found. */
export interface RehearsalResult {
  readonly outcome: 'same' | 'different' | 'skipped' | 'failed';
  readonly violations: readonly Violation[];
}

/** What a rehearsal needs. */
export interface RehearsalParts {
  readonly repeater: RequestRepeater;
  /** The names of the headers that are not compared. */
  readonly uncompared: ReadonlySet<string>;
  /** Ends the rehearsal. */
  readonly signal: Cancellation;
}

/** A result without differences. */
const without = (outcome: RehearsalResult['outcome']): RehearsalResult => ({ outcome, violations: [] });

/**
 * Repeats a request in the form of staging and compares the responses. If they differ, the request is repeated twice
 * more: in the form of staging, because the page may have changed, and in the client's form, because it may change all
 * the time. A difference counts only if both responses to each form agree about it. Never rejects.
 */
export async function rehearse(rehearsed: RehearsedExchange, parts: RehearsalParts): Promise<RehearsalResult> {
  try {
    return await compareForms(rehearsed, parts);
  } catch (error) {
    if (error instanceof UpstreamFailure) return without(error.kind === 'aborted' ? 'skipped' : 'failed');
    throw error;
  }
}

async function compareForms(
  { exchange, reply }: RehearsedExchange,
  { repeater, uncompared, signal }: RehearsalParts,
): Promise<RehearsalResult> {
  const { arrival, principal } = exchange;
  const repeat = (form: RequestForm) => repeater.repeat(exchange, form, signal);
  const built = async (): Promise<BuiltResponseFacts | undefined> => {
    const response = await repeat('built');
    return response && builtFactsOf(response, uncompared);
  };

  const first = await built();
  if (first === undefined) return without('skipped');
  const decoded = await repeater.decode(reply.headers, reply.body);
  const received = factsOf(reply, Buffer.isBuffer(decoded) ? decoded : undefined, uncompared);
  const compare = (facts: BuiltResponseFacts) => differencesOf(received, facts, principal.authorization !== undefined);
  const found = compare(first);
  if (found.length === 0) return without('same');

  const second = await built();
  if (second === undefined) return without('skipped');
  const changed = changedProperties(first, second);
  const again = new Set(compare(second).map(keyOf));
  const stable = found.filter((difference) => again.has(keyOf(difference)) && !hasChanged(changed, difference));
  if (stable.every(({ property }) => property === undefined)) return resultOf(stable);

  // A repeated cookie could end the client's session if the server replaces cookies. Without the comparison, a length or
  // a header says nothing.
  if (arrival.headers.cookie !== undefined)
    return resultOf(stable.filter(({ property }) => property === undefined || property === 'status'));
  const control = await controlOf(repeat('received'), uncompared);
  if (control === undefined) return without('skipped');
  const unstable = changedProperties(received, control);
  return resultOf(stable.filter((difference) => !hasChanged(unstable, difference)));
}

async function controlOf(
  repeated: ReturnType<RequestRepeater['repeat']>,
  uncompared: ReadonlySet<string>,
): Promise<ResponseFacts | undefined> {
  const response = await repeated;
  return response && factsOf(response, response.codingFault === undefined ? response.body : undefined, uncompared);
}

function resultOf(differences: readonly Difference[]): RehearsalResult {
  if (differences.length === 0) return without('same');
  return { outcome: 'different', violations: differences.map(({ violation }) => violation) };
}

const keyOf = ({ violation: { keyword, at } }: Difference) => `${keyword} ${at}`;
