import { type Item, itemsOf, toArray, toObject } from '../items.ts';
import type { Finding, SemanticRule } from './semantic-rule.ts';

/** A canceled action has the user who canceled it and the date. */
export const canceledFields: SemanticRule = {
  name: 'canceled-fields',
  reads: ['canceled', 'canceledByUser', 'canceledDate'],
  judge: (json) =>
    actionsOf(json)
      .filter(({ value }) => value['canceled'] === true)
      .flatMap(({ at, value }) =>
        ['canceledByUser', 'canceledDate']
          .filter((field) => !Object.hasOwn(value, field))
          .map((field) => ({ at: `${at}/${field}`, message: `${field} must be there when an action is canceled` })),
      ),
};

/** Returns the actions in a response: those of the list (7), or the canceled favorite or wiki action (11, 12). */
function actionsOf(json: unknown): Item[] {
  const result = toObject(toObject(json)?.['result']);
  const single = ['favoriteAction', 'wikifyAction'].flatMap((name) => {
    const value = toObject(result?.[name]);
    return value ? [{ at: `/result/${name}`, value }] : [];
  });
  return [...itemsOf('actions', json), ...single];
}

/** Checks that the action in a response of operation 11 or 12 is canceled and has the expected verb. */
function canceledResult(json: unknown, member: string, verb: string): Finding[] {
  const action = toObject(toObject(toObject(json)?.['result'])?.[member]);
  if (!action) return [];
  const at = `/result/${member}`;
  const findings: Finding[] = [];
  if (action['canceled'] !== true) findings.push({ at: `${at}/canceled`, message: `${member} must be canceled` });
  if (action['verb'] !== verb) findings.push({ at: `${at}/verb`, message: `${member} must have the verb ${verb}` });
  return findings;
}

/** A privacy job has `executions` exactly when it is finished. */
export const executionsWhenFinished: SemanticRule = {
  name: 'executions-when-finished',
  reads: ['status', 'executions'],
  judge: (json, operation) =>
    itemsOf(operation.itemsAt, json)
      .filter(({ value }) => 'status' in value && 'executions' in value !== (value['status'] === 'FINISHED'))
      .map(({ at }) => ({
        at: `${at}/executions`,
        message: 'executions must be there exactly when the job is FINISHED',
      })),
};

/** Removing a favorite returns the `favorited` action, canceled. */
export const unfavoriteResult: SemanticRule = {
  name: 'unfavorite-result',
  reads: ['result'],
  judge: (json) => canceledResult(json, 'favoriteAction', 'favorited'),
};

/** Removing the wiki mark returns the `wikified` action, canceled. */
export const unwikifyResult: SemanticRule = {
  name: 'unwikify-result',
  reads: ['result'],
  judge: (json) => canceledResult(json, 'wikifyAction', 'wikified'),
};

/** Actions are in order from newest to oldest unless another order was requested. */
export const newestFirst: SemanticRule = {
  name: 'newest-first',
  reads: ['actionDate'],
  judge: (json, _operation, { query }) => {
    if (query.has('sort')) return [];
    const actions = itemsOf('actions', json).map(({ at, value }) => ({ at, moment: toMoment(value['actionDate']) }));
    return actions
      .filter(({ moment }, index) => {
        const before = actions[index - 1]?.moment;
        // The stored form has no time zone, so dates of the two forms cannot be compared.
        return before && moment && before.zone === moment.zone && before.text < moment.text;
      })
      .map(({ at }) => ({
        at: `${at}/actionDate`,
        message: 'actionDate must not be later than that of the action before',
      }));
  },
};

interface Moment {
  /** The time zone of the date; empty for the stored form. */
  readonly zone: string;
  /** Digits whose order is the order of time. */
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

const DEFAULT_PAGE_SIZE = 20;

/** A response has at most 20 actions if no page size was requested. */
export const actionPageSize: SemanticRule = {
  name: 'action-page-size',
  reads: [],
  judge: (json, _operation, { query }) => {
    const tooMany = !query.has('pageSize') && toArray(toObject(json)?.['actions']).length > DEFAULT_PAGE_SIZE;
    return tooMany ? [{ at: '/actions', message: `actions must be at most ${DEFAULT_PAGE_SIZE} by default` }] : [];
  },
};
