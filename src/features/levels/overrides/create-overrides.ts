import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../lib/clock.ts';
import type { ActionOrigin } from '../../../engine/model/operator-action.ts';
import { changeId, type Override, overrideId } from './override.ts';
import { EXPIRY, type OverrideEvent } from './override-event.ts';
import type { OverrideFiles } from './override-files.ts';
import { type OverrideFault, type OverrideRules, readOverride } from './read-override.ts';

/** The temporary changes that operators have made to individual operations ("break glass"). */
export interface Overrides {
  /** Returns the active overrides for one operation or for all operations, in the order in which they were set. */
  active(operation?: string): readonly Override[];
  /** Sets an override, replacing any override with the same id. Returns all errors if the request is invalid. */
  set(request: unknown, origin: ActionOrigin): Override | readonly OverrideFault[];
  /**
   * Ends the operation's override with this change id (see `changeId`), or all of the operation's overrides. Returns
   * the overrides that were ended.
   */
  end(operation: string, change: string | undefined, origin: ActionOrigin): readonly Override[];
  /** Ends all overrides whose end time has passed. */
  expire(): void;
  /** Returns all stored overrides. They may include overrides whose end time has just passed. */
  stored(): readonly Override[];
  /** Replaces the overrides after other gateways have changed them. */
  adopt(next: readonly Override[]): void;
  /** From now on, applies these rules to requests for overrides. */
  configure(rules: OverrideRules): void;
  /** Calls `listener` with the id of an operation whenever its overrides change. */
  onChange(listener: (operation: string) => void): void;
  /** Starts a timer that ends each override at its end time. Returns a function that stops the timer. */
  watch(): () => void;
  /** Waits until all changes are stored. Returns false if storing the latest change failed. */
  written(): Promise<boolean>;
}

/** The dependencies of the overrides. */
interface OverridesParts {
  readonly stored: readonly Override[];
  readonly files: OverrideFiles;
  /** Called for each change. Adds it to the audit trail. Resolves to false if that failed. */
  readonly record: (event: OverrideEvent) => Promise<boolean>;
  readonly clock: Clock;
}

/** The maximum number of active overrides. Operators who need more should change the configuration. */
export const MAX_OVERRIDES = 100;

/**
 * While an override is active, the clock is read at least this often, in milliseconds. A timer alone would fire late if
 * the system clock was adjusted or the machine was suspended.
 */
const MAX_WAIT_MS = 1000;

/** Creates the overrides from the stored state. Requests are refused until `configure` has been called. */
export function createOverrides({ stored, files, record, clock }: OverridesParts): Overrides {
  const listeners: ((operation: string) => void)[] = [];
  let rules: OverrideRules = { operations: new Map(), maxHours: 0 };
  let all = stored;
  let rearm: (() => void) | undefined;

  const apply = (next: readonly Override[], event: OverrideEvent) => {
    all = next;
    files.replace(all, record(event));
    for (const listener of listeners) listener(event.override.operation);
    rearm?.();
  };
  const finish = (override: Override, event: Pick<OverrideEvent, 'event' | 'origin'>) => {
    const next = all.filter((one) => one !== override);
    apply(next, { ...event, at: clock(), override });
  };
  const expire = () => {
    const now = clock();
    for (const override of all.filter(({ until }) => until <= now))
      finish(override, { event: 'expired', origin: EXPIRY });
  };
  return {
    active(operation) {
      const now = clock();
      return all.filter((one) => one.until > now && (operation === undefined || one.operation === operation));
    },
    set(request, origin) {
      expire();
      const now = clock();
      const read = readOverride(request, rules, now);
      if (!('operation' in read)) return read;
      const by = read.by ?? origin.by;
      const override: Override = { ...read, by, from: origin.from, setAt: now };
      const others = all.filter((one) => overrideId(one) !== overrideId(override));
      if (others.length >= MAX_OVERRIDES)
        return [{ field: '', message: `There are already ${MAX_OVERRIDES} overrides. End one first.` }];
      const before = all.find((one) => overrideId(one) === overrideId(override));
      const told = { at: now, override, origin: { ...origin, by } };
      apply([...others, override], before ? { ...told, event: 'changed', before } : { ...told, event: 'set' });
      return override;
    },
    end(operation, change, origin) {
      expire();
      const ended = all.filter(
        (one) => one.operation === operation && (change === undefined || changeId(one) === change),
      );
      for (const override of ended) finish(override, { event: 'ended', origin });
      return ended;
    },
    expire,
    stored: () => all,
    adopt(next) {
      const before = all;
      all = next;
      files.replace(all);
      for (const operation of new Set([...before, ...next].map((one) => one.operation))) {
        const of = (overrides: readonly Override[]) => overrides.filter((one) => one.operation === operation);
        if (isDeepStrictEqual(of(before), of(next))) continue;
        for (const listener of listeners) listener(operation);
      }
      rearm?.();
    },
    configure(next) {
      rules = next;
    },
    onChange: (listener) => void listeners.push(listener),
    watch() {
      let timer: NodeJS.Timeout | undefined;
      rearm = () => {
        clearTimeout(timer);
        if (all.length === 0) return;
        const wait = Math.min(...all.map(({ until }) => until)) - clock();
        timer = setTimeout(tick, Math.min(Math.max(wait, 1), MAX_WAIT_MS)).unref();
      };
      const tick = () => {
        expire();
        rearm?.();
      };
      tick();
      return () => {
        clearTimeout(timer);
        rearm = undefined;
      };
    },
    written: files.written,
  };
}
