import type { Clock } from '../lib/clock.ts';
import type { Records } from './feature.ts';
import { emptySnapshot } from './model/ledger-entry.ts';
import type { Service } from './model/service.ts';

/** What the records use. */
export interface RecordsNeeds {
  readonly clock: Clock;
  current(): { readonly features: { readonly records: Records | undefined } } | undefined;
}

/** The records of the feature that keeps them. They are empty if no feature does. */
export const records: Service<Records, RecordsNeeds> = {
  start({ clock, current }) {
    const kept = () => current()?.features.records;
    return {
      open: async () => kept()?.open(),
      record: (trace) => kept()?.record(trace),
      flush: async () => kept()?.flush(),
      snapshot: async (query = {}) => kept()?.snapshot(query) ?? emptySnapshot(query, clock()),
    };
  },
};
