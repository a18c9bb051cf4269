import type { Contract } from '../../engine/contract/load-contract.ts';
import type { AskedServer, Pause } from './ask-server.ts';
import type { ServerResponse, Comparator, ExchangePair } from '../../comparison/comparator.ts';
import type { Identities } from '../../comparison/identities.ts';
import { lastingPart } from '../../comparison/lasting-part.ts';
import type { RequestSource, SourceRequest } from './sources/request-source.ts';
import type { Tally } from './tally.ts';
import { createTargetReader } from '../../comparison/targets.ts';

/** Somebody on whose behalf both servers are asked. */
export interface Caller {
  /** The name in reports, such as that of a role. */
  readonly name: string;
  /** The values of `Authorization`. Undefined for an anonymous caller. */
  readonly old: string | undefined;
  readonly new: string | undefined;
}

/** What a comparison consists of. */
export interface ComparisonParts {
  readonly contract: Contract;
  readonly comparator: Comparator;
  readonly ids: Identities;
  readonly tally: Tally;
  readonly source: RequestSource;
  readonly old: AskedServer;
  readonly new: AskedServer;
  /** The callers. What the old server sends to any of them tells a walk what else to request. */
  readonly callers: readonly Caller[];
  readonly concurrency: number;
  /** The time to wait before both servers are asked again about a difference. Undefined if they are not. */
  readonly askAgainAfterMs: number | undefined;
  /** True if paths that are not in the contract are compared, too. A GET request for them may not be safe. */
  readonly undocumented: boolean;
  readonly pause: Pause;
  readonly signal: AbortSignal;
  readonly onProgress: (operation: string) => void;
  /** Called from time to time with the state complete, so that a later run can continue. */
  readonly onCheckpoint?: (unfinished: number) => void;
}

/** How a comparison ended. */
export interface ComparisonRun {
  readonly ended: ComparisonEnd;
  /** The number of requests that were planned, but not sent. Undefined if only the end of the source would tell. */
  readonly left: number | undefined;
  /** The number of requests that the end interrupted. */
  readonly interrupted: number;
}

/** Why a comparison ended. */
export type ComparisonEnd = 'complete' | 'signal' | 'old server fails' | 'new server fails';

/** The number of failures in a row after which a server is given up: fewer if it has never responded. */
const MAX_FAILURES = 10;
const FIRST_FAILURES = 3;

const isGone = ({ failuresInARow, hasResponded }: AskedServer): boolean =>
  failuresInARow >= (hasResponded ? MAX_FAILURES : FIRST_FAILURES);

const CHECKPOINT_EVERY = 100;
/** The maximum number of requests that wait until the counterparts of their ids are known. */
const MAX_POSTPONED = 10_000;

/** Compares two servers until the source ends. */
export async function runComparison(parts: ComparisonParts): Promise<ComparisonRun> {
  const { source, tally, comparator, signal, concurrency } = parts;
  const compareOne = createTargetComparison(parts);
  let active = 0;
  let done = 0;
  let interrupted = 0;
  let isOver = false;
  let wake: (() => void) | undefined;
  const given = (): ComparisonEnd | undefined => {
    if (signal.aborted) return 'signal';
    if (isGone(parts.old)) return 'old server fails';
    return isGone(parts.new) ? 'new server fails' : undefined;
  };
  const postponed: SourceRequest[] = [];
  const tried = new WeakSet<SourceRequest>();
  const compareItem = async (request: SourceRequest): Promise<void> => {
    const result = await compareOne(request);
    if (result === 'interrupted') interrupted += 1;
    if (result !== 'unknown id') return;
    if (tried.has(request) || postponed.length >= MAX_POSTPONED)
      return tally.notMade('id without a counterpart', parts.callers.length);
    tried.add(request);
    postponed.push(request);
  };
  let end: ComparisonEnd | undefined;
  const worker = async (): Promise<void> => {
    for (;;) {
      end ??= given();
      if (end !== undefined || isOver) return;
      // An item is taken and counted before another worker can take the next one.
      active += 1;
      // What could not be translated waits until nothing else can show the counterparts of its ids.
      const item = (await source.next()) ?? (active === 1 ? postponed.shift() : undefined);
      if (item === undefined) {
        active -= 1;
        if (active === 0) {
          isOver = true;
          wake?.();
          return;
        }
        // A response that is still on its way can lead to further requests.
        await new Promise<void>((resolve) => {
          const before = wake;
          wake = () => {
            before?.();
            resolve();
          };
        });
        continue;
      }
      try {
        if ('notMade' in item) tally.notMade(item.notMade, parts.callers.length);
        else await compareItem(item);
      } finally {
        active -= 1;
        const woken = wake;
        wake = undefined;
        woken?.();
      }
      done += 1;
      if (done % CHECKPOINT_EVERY === 0) parts.onCheckpoint?.(active);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  // A run that continues judges whole lists itself, and counts itself what was not sent.
  parts.onCheckpoint?.(interrupted);
  const left = source.left();
  const unsent = (left ?? 0) + interrupted + postponed.length;
  if (unsent > 0) tally.notMade('planned, but not sent', unsent * parts.callers.length);
  for (const late of comparator.settle()) tally.takeLate(late);
  await source.close();
  return { ended: end ?? 'complete', left, interrupted };
}

/** The responses of both servers to one caller. */
interface AskedPair {
  readonly caller: Caller;
  readonly old: ServerResponse;
  readonly new: ServerResponse;
}

function createTargetComparison(parts: ComparisonParts) {
  const { comparator, ids, tally, source, callers, signal, pause, askAgainAfterMs } = parts;
  const read = createTargetReader(parts.contract);

  const askBoth = async (
    { target, newTarget }: { readonly target: string; readonly newTarget: string },
    caller: Caller,
    newFirst: boolean,
  ): Promise<AskedPair | { readonly because: string }> => {
    const askOld = () => parts.old.ask(target, caller.old, signal);
    const askNew = () => parts.new.ask(newTarget, caller.new, signal);
    const first = newFirst ? await askNew() : await askOld();
    if ('because' in first) return { because: `${newFirst ? 'new' : 'old'} server: ${first.because}` };
    const second = newFirst ? await askOld() : await askNew();
    if ('because' in second) return { because: `${newFirst ? 'old' : 'new'} server: ${second.because}` };
    const [old, next] = newFirst ? [second, first] : [first, second];
    return { caller, old: old.response, new: next.response };
  };

  /** Compares the responses to a request for all callers, unless it is interrupted or contains an unknown id. */
  return async (request: SourceRequest): Promise<'done' | 'interrupted' | 'unknown id'> => {
    const { operation, parameters, toNew } = read(request.target);
    parts.onProgress(operation?.id ?? 'undocumented paths');
    const newTarget = toNew(ids);
    if (newTarget === undefined) return 'unknown id';
    if (operation === undefined && !parts.undocumented) {
      tally.notMade('not in the contract', callers.length);
      return 'done';
    }
    const targets = { target: request.target, newTarget };
    const asked: AskedPair[] = [];
    for (const caller of callers) {
      const pair = await askBoth(targets, caller, false);
      if ('because' in pair) {
        if (signal.aborted && asked.length === 0 && caller === callers[0]) return 'interrupted';
        tally.notComparable(operation?.id, pair.because);
        continue;
      }
      asked.push(pair);
      source.learn(request, pair.old);
    }
    for (const pair of asked) {
      const others = asked.filter((one) => one !== pair);
      const exchange = ({ caller, old, new: next }: AskedPair): ExchangePair => ({
        operation,
        parameters,
        target: request.target,
        role: caller.name,
        old,
        new: next,
        ...(others.length > 0 && {
          others: {
            ids: new Set(others.flatMap((one) => [...comparator.itemIds(operation, one.old)])),
            isAllowed: others.some((one) => comparator.isAllowed(operation, one.old)),
          },
        }),
      });
      const first = comparator.compare(exchange(pair));
      if (first.outcome !== 'different' || askAgainAfterMs === undefined) {
        first.accept();
        tally.take(first, false);
        continue;
      }
      await pause(askAgainAfterMs, signal);
      const again = signal.aborted ? undefined : await askBoth(targets, pair.caller, true);
      // If the servers cannot be asked again, the difference that was seen counts.
      const second = again === undefined || 'because' in again ? undefined : comparator.compare(exchange(again));
      const result = second === undefined ? first : lastingPart(first, second);
      result.accept();
      tally.take(result, result.outcome !== 'different');
    }
    for (const late of comparator.refuted()) tally.takeLate(late);
    return 'done';
  };
}
