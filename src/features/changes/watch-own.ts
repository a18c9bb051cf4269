import type { Settings } from '../../engine/config/settings.ts';
import type { FeatureContext } from '../../engine/feature.ts';
import { isContractViolation, type LedgerEntry } from '../../engine/model/ledger-entry.ts';
import { isAdvisory } from '../../engine/model/violation.ts';
import type { Clock } from '../../lib/clock.ts';
import { isPlainObject } from '../../lib/plain-object.ts';
import { type FeedEvent, type NewEvent, OWN_SOURCE, titleOf } from './event.ts';
import type { FeedStore } from './feed-store.ts';
import type { Turns } from './turns.ts';

/** Tells of new violations in responses, and of checks that are no longer enforced although they are configured so. */
export interface OwnWatch {
  /** Looks for news, if it is time. Never rejects. */
  tick(): Promise<void>;
  /** Returns whether an event is still true: the violation is recorded and not accepted, the check is not enforced. */
  isStillTrue(event: FeedEvent): Promise<boolean>;
}

/** What the watch needs. */
export interface OwnWatchParts extends Pick<FeatureContext<unknown>, 'records' | 'isAccepted' | 'gateway' | 'logger'> {
  readonly operations: readonly string[];
  readonly settings: Pick<Settings, 'checksFor'>;
  readonly store: FeedStore;
  readonly turns: Pick<Turns, 'isMine'>;
  readonly clock: Clock;
}

/** What was told. Stored as JSON. */
interface Told {
  readonly fingerprints: readonly string[];
  /** The operations whose responses are no longer enforced. */
  readonly lowered: readonly string[];
}

/** The time between two looks, in milliseconds. */
const EVERY_MS = 15_000;

/** The number of new violations in one look of which each has an event of its own. The others are only counted. */
const MAX_SINGLE = 10;

/** The number of fingerprints that are remembered. The ledger has a limit of its own. */
const MAX_TOLD = 100_000;

const DOCUMENT = 'own';

/** Creates the watch. What was there when it looked for the first time is no news. */
export function createOwnWatch(parts: OwnWatchParts): OwnWatch {
  const { records, isAccepted, gateway, settings, store, turns, clock, logger, operations } = parts;
  let lookAt = -Infinity;

  // Clients can make up any number of violations in requests.
  const isNews = (entry: LedgerEntry) =>
    entry.direction === 'response' &&
    isContractViolation(entry) &&
    entry.candidate === undefined &&
    !isAdvisory(entry) &&
    !isAccepted(entry);
  const isLowered = (id: string) =>
    settings.checksFor(id).responses === 'enforce' && gateway().checksOf(id).responses !== 'enforce';

  const look = async () => {
    const document = await store.read(DOCUMENT);
    const told = parseTold(document?.text);
    const { entries } = await records.snapshot();
    const known = new Set(told?.fingerprints);
    const news = entries.filter((entry) => !known.has(entry.fingerprint) && isNews(entry));
    const lowered = operations.filter(isLowered);
    const before = new Set(told?.lowered);
    const fell = lowered.filter((id) => !before.has(id));
    const next: Told = {
      // Accepted violations and advisories are not told, so they are news if that changes.
      fingerprints: [...known, ...news.map(({ fingerprint }) => fingerprint)].slice(-MAX_TOLD),
      lowered,
    };
    const text = JSON.stringify(next);
    if (text === document?.text) return;
    const events = told === undefined ? [] : [...violationEvents(news), ...fell.map(loweredEvent)];
    await store.commit({ document: DOCUMENT, revision: document?.revision ?? 0, text, events, at: clock() });
  };

  return {
    async tick() {
      if (clock() < lookAt) return;
      try {
        if (!(await turns.isMine())) return;
        lookAt = clock() + EVERY_MS;
        await look();
      } catch (error) {
        logger.error({ err: error }, 'the change feed cannot look for new violations');
      }
    },
    async isStillTrue({ kind, target }) {
      if (kind === 'level.lowered') return isLowered(target.id);
      if (kind !== 'violation.new') return true;
      const { entries } = await records.snapshot();
      const entry = entries.find(({ fingerprint }) => fingerprint === target.id);
      return entry !== undefined && isNews(entry);
    },
  };
}

function violationEvents(news: readonly LedgerEntry[]): readonly NewEvent[] {
  const single = news.slice(0, MAX_SINGLE).map((entry): NewEvent => {
    const { fingerprint, operation = 'an undocumented path', check, category, at, message, status } = entry;
    const { keyword, suggestion } = entry;
    const place = at === '' ? '' : ` at ${at}`;
    return {
      source: OWN_SOURCE,
      kind: 'violation.new',
      target: { type: 'violation', id: fingerprint },
      title: titleOf(`new violation in responses of ${operation}${place}: ${message} (${category}, ${fingerprint})`),
      data: JSON.stringify({
        fingerprint,
        operation,
        check,
        category,
        status,
        at,
        keyword,
        message,
        suggestion,
      }),
    };
  });
  const rest = news.length - single.length;
  if (rest <= 0) return single;
  const title = `${rest} more new violations; see the console or portico report`;
  const target = { type: 'violation', id: 'several' };
  return [
    ...single,
    { source: OWN_SOURCE, kind: 'violation.several', target, title, data: JSON.stringify({ count: rest }) },
  ];
}

const loweredEvent = (operation: string): NewEvent => ({
  source: OWN_SOURCE,
  kind: 'level.lowered',
  target: { type: 'operation', id: operation },
  title: titleOf(`responses of ${operation} are no longer enforced; see portico ladder`),
  data: JSON.stringify({ operation, check: 'responses' }),
});

function parseTold(text: string | undefined): Told | undefined {
  const value: unknown = text === undefined || text === '' ? undefined : JSON.parse(text);
  if (!isPlainObject(value)) return undefined;
  const { fingerprints, lowered } = value;
  return Array.isArray(fingerprints) && Array.isArray(lowered)
    ? { fingerprints: fingerprints as string[], lowered: lowered as string[] }
    : undefined;
}
