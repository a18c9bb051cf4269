import { itemsOf } from '../items-of.ts';
import type { SemanticRule } from './semantic-rule.ts';

/** Actions come newest first unless another order was asked for. */
export const newestFirst: SemanticRule = {
  name: 'newest-first',
  reads: ['actionDate'],
  judge: (json, _operation, { query }) => {
    if (query.has('sort')) return [];
    const actions = itemsOf('actions', json).map(({ at, value }) => ({ at, moment: toMoment(value['actionDate']) }));
    return actions
      .filter(({ moment }, index) => {
        const before = actions[index - 1]?.moment;
        // The stored form names no zone, so moments of the two forms cannot be compared.
        return before && moment && before.zone === moment.zone && before.text < moment.text;
      })
      .map(({ at }) => ({
        at: `${at}/actionDate`,
        message: 'actionDate must not be later than that of the action before',
      }));
  },
};

interface Moment {
  /** The zone that the date names; empty for the stored form. */
  readonly zone: string;
  /** Digits that sort as time does. */
  readonly text: string;
}

const STORED = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})$/;
const JUST_MADE = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d):(\d\d):(\d\d) (\S+) (\d{4})$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function toMoment(date: unknown): Moment | undefined {
  if (typeof date !== 'string') return undefined;
  const stored = STORED.exec(date);
  if (stored) return { zone: '', text: [...stored.slice(1, 7), (stored[7] ?? '').padEnd(9, '0')].join('') };
  const made = JUST_MADE.exec(date);
  if (!made) return undefined;
  const [, month = '', day = '', hour = '', minute = '', second = '', zone = '', year = ''] = made;
  const monthNumber = String(MONTHS.indexOf(month) + 1).padStart(2, '0');
  return { zone, text: year + monthNumber + day + hour + minute + second };
}
