import type { ServerResponse, Comparator, PairResult } from '../../comparison/comparator.ts';
import { LEAK, toViolation } from '../../comparison/difference-violation.ts';
import type { Identities } from '../../comparison/identities.ts';
import { lastingPart } from '../../comparison/lasting-part.ts';
import type { createTargetReader } from '../../comparison/targets.ts';
import type { FeatureContext } from '../../engine/feature.ts';
import { contentType } from '../../engine/model/header-pairs.ts';
import type { Trace } from '../../engine/model/trace.ts';
import { UpstreamFailure } from '../../engine/model/upstream-failure.ts';
import { DIFFERENCE, type Violation } from '../../engine/model/violation.ts';
import type { Exchange } from '../../engine/pipeline/exchange.ts';
import { hasAcceptedCredential } from '../../engine/pipeline/permission-verdict.ts';
import { DEFAULT_JSON_LIMITS, exceededLimit, type JsonLimits } from '../../lib/bounded-json.ts';
import { createSlices, laterTurn } from '../../lib/later-turns.ts';
import type { Budget } from './budget.ts';
import { BUSY, type Candidate } from './candidate.ts';
import { type Cell, type Compared, LEAK_MARK, type MirrorCounts, NOT_MADE, type NotMade } from './mirror-counts.ts';

/** An exchange that waits to be mirrored. */
export interface MirroredExchange extends Cell {
  readonly exchange: Exchange;
  readonly trace: Trace;
  readonly authorization: string | undefined;
  /** The legacy server's response, as it was received. */
  readonly answer: ServerResponse;
  readonly bytes: number;
  /** A text that stands for the caller, for as long as the process lasts. */
  readonly caller: string;
  /** When it began to wait, in epoch milliseconds. */
  readonly at: number;
}

/** What is needed to mirror an exchange. */
export interface MirrorParts extends Pick<FeatureContext<unknown>, 'kindOf' | 'record' | 'repeater'> {
  readonly candidate: Candidate;
  readonly comparator: Comparator;
  readonly readTarget: ReturnType<typeof createTargetReader>;
  readonly ids: Identities;
  readonly budget: Budget;
  readonly counts: MirrorCounts;
  /** Returns a number that stands for a caller. Undefined if the gateways have no key for it yet. */
  readonly numberOf: (caller: string) => number | undefined;
  readonly label: string;
  readonly versions: Compared['versions'];
  readonly transparent: boolean;
  readonly askAgainMs: number;
  readonly maxResponseBytes: number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A single object with more values would hold up clients while it is compared. Large pages have a few thousand. */
const LIMITS: JsonLimits = { ...DEFAULT_JSON_LIMITS, values: 20_000 };

/** Sends a request to the second server, compares the responses, and counts and records the result. */
export async function mirrorExchange(mirrored: MirroredExchange, parts: MirrorParts): Promise<void> {
  const { candidate, comparator, counts, budget, signal } = parts;
  const { answer } = mirrored;
  const { operation, parameters, hasCredential, toNew } = parts.readTarget(targetOf(mirrored, parts));
  if (hasCredential) return counts.notMade(mirrored, 'credential');
  const newTarget = toNew(parts.ids);
  if (newTarget === undefined) return counts.notMade(mirrored, 'id without a counterpart');
  const request = requestOf(mirrored, newTarget, parts);
  const asked = await candidate.ask(request, signal);
  if ('because' in asked) return leaveOut(mirrored, asked, parts);
  for (const [server, { body }] of [['old', answer] as const, ['new', asked.answer] as const])
    if (exceededLimit(body, LIMITS) !== undefined)
      return counts.notComparable(mirrored, `${server} server: too many values`);
  const compare = async (old: ServerResponse, next: ServerResponse) => {
    // A comparison takes much longer than the check of a response, so waiting requests are served in between.
    await laterTurn();
    const pair = { operation, parameters, target: newTarget, role: mirrored.role, old, new: next };
    return comparator.compareInTurns(pair, createSlices());
  };
  let result = await compare(answer, asked.answer);
  const isSeen = result.outcome === 'different';
  let isUnconfirmed = false;
  if (isSeen) {
    await parts.pause(Math.max(parts.askAgainMs, budget.waitMs()), signal);
    const again = await askAgain(mirrored, request, parts);
    if (signal.aborted) return counts.notMade(mirrored, 'interrupted');
    // If the servers cannot be asked again, the difference that was seen counts.
    isUnconfirmed = again === undefined;
    if (again !== undefined) result = lastingPart(result, await compare(again.old, again.new));
  }
  result.accept();
  const violations = violationsOf(mirrored, result, parts);
  counts.compared(mirrored, {
    outcome: result.outcome,
    found: violations.map(({ mark }) => mark),
    isRace: isSeen && result.outcome !== 'different',
    isUnconfirmed,
    undecided: result.equivalences.get('item at the edge of a page') ?? 0,
    verdicts: result.verdicts,
    seconds: { old: mirrored.trace.upstream?.seconds ?? 0, new: asked.seconds },
    versions: parts.versions,
    caller: isKnownCaller(mirrored) ? parts.numberOf(mirrored.caller) : undefined,
  });
  if (violations.length > 0)
    parts.record(
      recordable(mirrored.trace),
      violations.map(({ violation }) => violation),
    );
}

/** Returns false for a credential that the legacy server has not accepted, because anybody can claim any name. */
const isKnownCaller = ({ exchange, trace }: MirroredExchange): boolean =>
  exchange.principal.kind !== 'unverified' || hasAcceptedCredential(trace);

/** Returns what was requested on the legacy server, in the form in which it was sent there. */
const targetOf = ({ exchange }: MirroredExchange, { transparent }: Pick<MirrorParts, 'transparent'>) =>
  transparent ? exchange.arrival.target : exchange.target;

function requestOf(
  { exchange, authorization }: MirroredExchange,
  target: string,
  { transparent }: Pick<MirrorParts, 'transparent'>,
): Parameters<Candidate['ask']>[0] {
  const { headers } = exchange.arrival;
  // In `observe` mode, the legacy server has received the client's own headers.
  const [accept, acceptLanguage] = transparent ? [headers.accept, headers['accept-language']] : [];
  return { target, authorization, accept, acceptLanguage };
}

function leaveOut(
  cell: Cell,
  { because, isSent }: { readonly because: string; readonly isSent: boolean },
  { counts }: Pick<MirrorParts, 'counts'>,
): void {
  const reason = NOT_MADE.find((one) => one === because);
  if (isSent || reason === undefined) counts.notComparable(cell, because);
  else counts.notMade(cell, reason satisfies NotMade);
}

/**
 * Asks both servers again, the second one first. Returns undefined if the budget, the legacy server's free slots or a
 * failure do not permit it.
 */
async function askAgain(
  { exchange }: MirroredExchange,
  request: Parameters<Candidate['ask']>[0],
  { candidate, budget, repeater, transparent, signal, maxResponseBytes }: MirrorParts,
): Promise<{ readonly old: ServerResponse; readonly new: ServerResponse } | undefined> {
  if (signal.aborted || !budget.take()) return undefined;
  const next = await candidate.ask(request, signal);
  if ('because' in next) return undefined;
  const old = await repeated(repeater.repeat(exchange, transparent ? 'received' : 'built', signal));
  if (old === undefined || old.body.length > maxResponseBytes || BUSY.has(old.status)) return undefined;
  if ([old, next.answer].some(({ body }) => exceededLimit(body, LIMITS) !== undefined)) return undefined;
  return { old, new: next.answer };
}

async function repeated(response: ReturnType<MirrorParts['repeater']['repeat']>): Promise<ServerResponse | undefined> {
  try {
    const reply = await response;
    if (reply === undefined || reply.codingFault !== undefined) return undefined;
    return { status: reply.status, mediaType: contentType(reply.headers), body: reply.body };
  } catch (error) {
    if (error instanceof UpstreamFailure) return undefined;
    throw error;
  }
}

interface FoundViolation {
  readonly violation: Violation;
  /** The fingerprint. That of a leak is marked, because nobody can accept it. */
  readonly mark: string;
}

/** Returns the differences that count as violations for the ledger, and notes them for the console. */
function violationsOf(
  mirrored: MirroredExchange,
  { differences, verdicts }: PairResult,
  { kindOf, counts, label }: MirrorParts,
): readonly FoundViolation[] {
  return differences.flatMap((difference): FoundViolation[] => {
    if (difference.mutedBy !== undefined) return [];
    const plain = toViolation(difference);
    // The legacy server is not at fault if the second one decides otherwise about permissions.
    const violation = { ...plain, category: DIFFERENCE, found: `${label}: ${plain.found ?? ''}` } as const;
    const status = statusInRecords(mirrored.status);
    const { fingerprint, at } = kindOf(mirrored.operation, status, violation);
    const { keyword, message } = violation;
    counts.found(mirrored, { fingerprint, keyword, at, message, verdicts }, difference);
    return [{ violation, mark: keyword === LEAK ? LEAK_MARK + fingerprint : fingerprint }];
  });
}

/** Records would take a status of 500 or more for an outage of the legacy server. */
const statusInRecords = (status: number) => (status >= 500 ? undefined : status);

function recordable(trace: Trace): Trace {
  if (trace.upstream?.status === undefined || trace.upstream.status < 500) return trace;
  return { ...trace, upstream: { ...trace.upstream, status: undefined } };
}
