import type { Contract } from '../../engine/contract/load-contract.ts';
import type { AskedServer, Pause } from './ask-server.ts';
import type { Comparator, ExchangePair, PairResult, ServerResponse } from '../../comparison/comparator.ts';
import type { Identities } from '../../comparison/identities.ts';
import { lastingPart } from '../../comparison/lasting-part.ts';
import type { RequestSource, SourceItem, SourceRequest } from './sources/request-source.ts';
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
  /** Targets with which to begin: an earlier run has taken them from the source, but not compared them. */
  readonly unfinished?: readonly string[] | undefined;
  readonly old: AskedServer;
  readonly new: AskedServer;
  /** The callers. What the old server sends to any of them tells a walk what else to request. */
  readonly callers: readonly Caller[];
  readonly concurrency: number;
  /** The time to wait before both servers are asked again about a difference. Undefined if they are not. */
  readonly askAgainAfterMs: number | undefined;
  /** True if both are the same server. They are not asked again about values, because how these differ is measured. */
  readonly isSelf: boolean;
  /** True if paths that are not in the contract are compared, too. A GET request for them may not be safe. */
  readonly undocumented: boolean;
  readonly pause: Pause;
  readonly signal: AbortSignal;
  readonly onProgress: (operation: string) => void;
  /** Called from time to time, and at the end, with the targets that were taken from the source but not counted yet. */
  readonly onCheckpoint?: (unfinished: readonly string[]) => void;
}

/** How a comparison ended. */
export interface ComparisonRun {
  readonly ended: ComparisonEnd;
  /** The number of requests that were planned, but not sent. Undefined if only the end of the source would tell. */
  readonly left: number | undefined;
}

/** Why a comparison ended. */
export type ComparisonEnd = 'complete' | 'signal' | `${'old' | 'new'} server ${'fails' | 'asks to wait'}`;

/** The number of failures in a row after which a server is given up: fewer if it has never responded. */
const MAX_FAILURES = 10;
const FIRST_FAILURES = 3;

function endOf(name: 'old' | 'new', { failuresInARow, hasResponded, wants }: AskedServer): ComparisonEnd | undefined {
  if (wants === 'a long pause') return `${name} server asks to wait`;
  if (failuresInARow < (hasResponded ? MAX_FAILURES : FIRST_FAILURES)) return undefined;
  return `${name} server ${wants === 'a pause' ? 'asks to wait' : 'fails'}`;
}

const CHECKPOINT_EVERY = 100;
/** The maximum number of requests that wait until the counterparts of their ids are known. */
const MAX_POSTPONED = 10_000;

/** Compares two servers until the source ends. */
export async function runComparison(parts: ComparisonParts): Promise<ComparisonRun> {
  const { source, tally, comparator, signal, concurrency } = parts;
  const compareOne = createTargetComparison(parts);
  const begin = (parts.unfinished ?? []).map((target): SourceRequest => ({ method: 'GET', target }));
  const inWork = new Set<SourceRequest>();
  const interrupted: SourceRequest[] = [];
  let active = 0;
  let done = 0;
  let isOver = false;
  let wake: (() => void) | undefined;
  const given = () => (signal.aborted ? 'signal' : (endOf('old', parts.old) ?? endOf('new', parts.new)));
  const postponed: SourceRequest[] = [];
  const tried = new WeakSet<SourceRequest>();
  const compareItem = async (request: SourceRequest): Promise<void> => {
    const result = await compareOne(request);
    // From here on, nothing waits, so that a checkpoint contains a request either as counted or as unfinished.
    inWork.delete(request);
    if (typeof result === 'function') return result();
    if (result === 'interrupted') return void interrupted.push(request);
    if (tried.has(request) || postponed.length >= MAX_POSTPONED)
      return tally.notMade('id without a counterpart', parts.callers.length);
    tried.add(request);
    postponed.push(request);
  };
  const unfinished = () => [...begin, ...inWork, ...interrupted, ...postponed].map(({ target }) => target);
  let isTaking = false;
  let isCheckpointDue = false;
  const checkpoint = () => {
    // The source may have counted an item that has not arrived here yet.
    if (!isCheckpointDue || isTaking) return;
    isCheckpointDue = false;
    parts.onCheckpoint?.(unfinished());
  };
  let lastTaken: Promise<unknown> = Promise.resolve();
  /** Takes the next item, after those that others are taking, so that there are moments for checkpoints. */
  const take = (): Promise<SourceItem | undefined> => {
    const before = lastTaken;
    const taken = async () => {
      await before;
      isTaking = true;
      // What could not be translated waits until nothing else can show the counterparts of its ids.
      const item = begin.shift() ?? (await source.next()) ?? (active === 1 ? postponed.shift() : undefined);
      isTaking = false;
      if (item !== undefined && 'notMade' in item) tally.notMade(item.notMade, parts.callers.length);
      else if (item !== undefined) inWork.add(item);
      checkpoint();
      return item;
    };
    const item = taken();
    lastTaken = item;
    return item;
  };
  let end: ComparisonEnd | undefined;
  const worker = async (): Promise<void> => {
    for (;;) {
      end ??= given();
      if (end !== undefined || isOver) return;
      // An item is taken and counted before another worker can take the next one.
      active += 1;
      const item = await take();
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
        if (!('notMade' in item)) await compareItem(item);
      } finally {
        active -= 1;
        const woken = wake;
        wake = undefined;
        woken?.();
      }
      done += 1;
      if (done % CHECKPOINT_EVERY === 0) isCheckpointDue = true;
      checkpoint();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  // A run that continues judges whole lists itself, and counts itself what was not sent.
  parts.onCheckpoint?.(unfinished());
  const left = source.left();
  const unsent = (left ?? 0) + unfinished().length;
  if (unsent > 0) tally.notMade('planned, but not sent', unsent * parts.callers.length);
  for (const late of comparator.settle()) tally.takeLate(late);
  await source.close();
  return { ended: end ?? 'complete', left };
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

  /** Returns whether a result can be due to what was written between the two requests. */
  const isDoubtful = ({ differences, hasOtherTotal }: PairResult): boolean =>
    hasOtherTotal || differences.some((one) => one.mutedBy === undefined && !(parts.isSelf && one.kind === 'value'));

  /**
   * Compares the responses to a request for all callers, unless it is interrupted or contains an unknown id. Returns a
   * function that counts the results.
   */
  return async (request: SourceRequest): Promise<(() => void) | 'interrupted' | 'unknown id'> => {
    const { operation, parameters, hasCredential, toNew } = read(request.target);
    parts.onProgress(operation?.id ?? 'undocumented paths');
    const newTarget = toNew(ids);
    if (newTarget === undefined) return 'unknown id';
    if (operation === undefined && !parts.undocumented)
      return () => tally.notMade('not in the contract', callers.length);
    if (hasCredential) return () => tally.notMade('contains a credential', callers.length);
    const targets = { target: request.target, newTarget };
    const asked: AskedPair[] = [];
    const counts: (() => void)[] = [];
    for (const caller of callers) {
      const pair = await askBoth(targets, caller, false);
      if ('because' in pair) {
        if (signal.aborted) return 'interrupted';
        counts.push(() => tally.notComparable(operation?.id, pair.because));
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
      if (askAgainAfterMs === undefined || !isDoubtful(first)) {
        counts.push(() => {
          first.accept();
          tally.take(first, false);
        });
        continue;
      }
      await pause(askAgainAfterMs, signal);
      const again = await askBoth(targets, pair.caller, true);
      if ('because' in again && signal.aborted) return 'interrupted';
      // If the servers cannot be asked again, the difference that was seen counts.
      const result = 'because' in again ? first : lastingPart(first, comparator.compare(exchange(again)), parts.isSelf);
      counts.push(() => {
        result.accept();
        tally.take(result, !isDoubtful(result));
      });
    }
    return () => {
      for (const count of counts) count();
      for (const late of comparator.refuted()) tally.takeLate(late);
    };
  };
}
