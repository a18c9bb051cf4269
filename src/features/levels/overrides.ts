import type { Clock } from '../../lib/clock.ts';
import { type OverrideEntry, subjectOf } from './level-entry.ts';
import type { LevelStore } from './level-store.ts';
import { type OverrideFault, type OverrideRules, readOverride } from './read-override.ts';

/** Who changes an override: the name that the operator gave, if any, and the address of the request. */
export interface Changer {
  readonly by?: string | undefined;
  readonly from?: string | undefined;
}

/** The temporary changes that operators make to single operations. They are entries in the store. */
export interface Overrides<Origin extends Changer> {
  /** Returns the active overrides for one operation or for all operations, in the order in which they were set. */
  active(operation?: string): readonly OverrideEntry[];
  /** Sets an override, replacing one with the same subject. Returns all errors if the request is invalid. */
  set(request: unknown, origin: Origin): OverrideEntry | readonly OverrideFault[];
  /** Ends the operation's override with this subject, or all of its overrides. Returns those that were ended. */
  end(operation: string, subject: string | undefined, origin: Origin): readonly OverrideEntry[];
  /** Ends all overrides whose end time has passed. */
  expire(): void;
  /** Starts a timer that ends each override at its end time. Returns a function that stops the timer. */
  watch(): () => void;
}

/** A change to an override. */
export interface OverrideEvent<Origin extends Changer = Changer> {
  /** The kind of event: an operator has set, changed or ended the override, or the override has expired. */
  readonly event: 'set' | 'changed' | 'ended' | 'expired';
  /** The time of the event, in epoch milliseconds. */
  readonly at: number;
  /** The override as it was after the event or, if the event ended it, before the event. */
  readonly override: OverrideEntry;
  /** The override that was changed. */
  readonly before?: OverrideEntry;
  /** Who changed it. Undefined if it has expired. */
  readonly origin?: Origin;
}

interface OverridesParts<Origin extends Changer> {
  readonly store: LevelStore;
  /** Returns the rules that apply to requests now. */
  readonly rules: () => OverrideRules;
  /** Called for each change. Adds it to the audit trail. Resolves to false if that failed. */
  readonly record: (event: OverrideEvent<Origin>) => Promise<boolean>;
  readonly clock: Clock;
}

/** The maximum number of active overrides. Operators who need more should change the configuration. */
export const MAX_OVERRIDES = 100;

/**
 * While an override is active, the clock is read at least this often, in milliseconds. A timer alone would fire late if
 * the system clock was adjusted or the machine was suspended.
 */
const MAX_WAIT_MS = 1000;

/** Creates the functions with which operators change the store. */
export function createOverrides<Origin extends Changer>(parts: OverridesParts<Origin>): Overrides<Origin> {
  const { store, rules, record, clock } = parts;
  const finish = (override: OverrideEntry, event: 'ended' | 'expired', origin?: Origin) =>
    store.replace(override, undefined, record({ event, at: clock(), override, ...(origin && { origin }) }));
  const expire = () => {
    const now = clock();
    for (const override of store.overrides()) if (override.until <= now) finish(override, 'expired');
  };
  return {
    active(operation) {
      const now = clock();
      return store.overrides(operation).filter(({ until }) => until > now);
    },
    set(request, origin) {
      expire();
      const now = clock();
      const read = readOverride(request, rules(), now);
      if (!('operation' in read)) return read;
      const by = read.by ?? origin.by;
      const override: OverrideEntry = { ...read, source: 'operator', by, from: origin.from, since: now };
      const before = store.overrides(override.operation).find((one) => subjectOf(one) === subjectOf(override));
      if (before === undefined && store.overrides().length >= MAX_OVERRIDES)
        return [{ field: '', message: `There are already ${MAX_OVERRIDES} overrides. End one first.` }];
      const told = { at: now, override, origin: { ...origin, by } };
      store.replace(
        before,
        override,
        record(before ? { ...told, event: 'changed', before } : { ...told, event: 'set' }),
      );
      return override;
    },
    end(operation, subject, origin) {
      expire();
      const ended = store.overrides(operation).filter((one) => subject === undefined || subjectOf(one) === subject);
      for (const override of ended) finish(override, 'ended', origin);
      return ended;
    },
    expire,
    watch() {
      let timer: NodeJS.Timeout | undefined;
      let isWatching = true;
      const arm = () => {
        clearTimeout(timer);
        const all = store.overrides();
        if (!isWatching || all.length === 0) return;
        const wait = Math.min(...all.map(({ until }) => until)) - clock();
        timer = setTimeout(tick, Math.min(Math.max(wait, 1), MAX_WAIT_MS)).unref();
      };
      const tick = () => {
        expire();
        arm();
      };
      store.onChange(arm);
      tick();
      return () => {
        isWatching = false;
        clearTimeout(timer);
      };
    },
  };
}
