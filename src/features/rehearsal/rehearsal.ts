import type { Feature } from '../../engine/feature.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Trace } from '../../engine/model/trace.ts';
import { isAdvisory } from '../../engine/model/violation.ts';
import { toCauseLine } from '../../engine/privacy/cause-line.ts';
import { uncomparedHeaders } from './compare-responses.ts';
import { NOTED, noteReply } from './note-reply.ts';
import { options } from './options.ts';
import { rehearse, type RehearsalResult, type RehearsedExchange } from './rehearse.ts';

const OUTCOMES = ['same', 'different', 'skipped', 'failed'] as const satisfies readonly RehearsalResult['outcome'][];

const REHEARSALS = {
  name: 'portico_rehearsals_total',
  type: 'counter',
  labels: ['outcome'],
  help: 'Requests selected for rehearsal, by outcome: same, different, skipped or failed. The metric exists only with rehearsal.share.',
} as const;

/**
 * Repeats a sample of the safe requests in `observe` mode in the form in which staging sends them, and records the
 * differences between the responses. Clients have their responses before a rehearsal begins.
 */
export const rehearsal = {
  name: 'rehearsal',
  options,
  metrics: [REHEARSALS],
  warn({ share }, { settings }) {
    if (share === 0 || settings.mode.transparent) return [];
    return [{ pointer: '/rehearsal/share', message: 'has no effect: requests are rehearsed only in observe mode' }];
  },
  start({ options: given, clock, random, logger, metrics, repeater, record }) {
    const { share, perSecond, concurrency, ignoreHeaders } = given;
    if (share === 0) return undefined;
    const count = metrics.counter(REHEARSALS, [OUTCOMES]);
    const closing = new AbortController();
    const { signal } = closing;
    const parts = { repeater, uncompared: uncomparedHeaders(ignoreHeaders), signal };
    const takeTurn = createAllowance(perSecond, clock);
    const running = new Set<Promise<void>>();

    const run = async (trace: Trace, noted: RehearsedExchange) => {
      try {
        const { outcome, violations } = await rehearse(noted, parts);
        // The ledger may be closed by now.
        if (!signal.aborted && violations.length > 0) record(trace, violations);
        count(signal.aborted ? 'skipped' : outcome);
      } catch (error) {
        count('failed');
        logger.error({ cause: toCauseLine(error) }, 'a rehearsal failed');
      }
    };
    return {
      stages: [noteReply(() => random() < share)],
      passiveStages: [],
      finished(trace) {
        const noted = NOTED.get(trace);
        if (noted === undefined) return;
        NOTED.set(trace, undefined);
        if (signal.aborted || !isComparable(trace) || running.size >= concurrency || !takeTurn()) {
          count('skipped');
          return;
        }
        const one = run(trace, noted).finally(() => running.delete(one));
        running.add(one);
      },
      async close() {
        closing.abort();
        await Promise.all(running);
      },
    };
  },
} as const satisfies Feature<typeof options>;

/**
 * Returns whether stricter modes would send the request and whether its response can be compared. It cannot if the
 * client has not received it or not received it unchanged, if it depends on what the client has stored, or if the server
 * fails, refuses the credential or asks for fewer requests.
 */
function isComparable({ status = 0, error, upstream, authentication, violations }: Trace): boolean {
  const received = upstream?.status ?? 0;
  if (error !== undefined || status !== received || received >= 500 || INCOMPARABLE.has(received)) return false;
  if (authentication !== undefined && REFUSED.has(authentication.outcome)) return false;
  return violations.every((one) => one.direction === 'response' || isAdvisory(one) || one.category === 'undocumented');
}

/** Partial and conditional responses, refused credentials and refusals because of too many requests. */
const INCOMPARABLE: ReadonlySet<number> = new Set([206, 304, 401, 412, 416, 429]);

const REFUSED: ReadonlySet<string> = new Set(['reported', 'refused', 'failed']);

/** Returns a function that returns true at most `perSecond` times per second, and at least once at first. */
function createAllowance(perSecond: number, clock: Clock): () => boolean {
  const most = Math.max(1, perSecond);
  let left = most;
  let filledAt = clock();
  return () => {
    const now = clock();
    left = Math.min(most, left + (Math.max(0, now - filledAt) / 1000) * perSecond);
    filledAt = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
