import type { Finding, SemanticRule } from '../engine/contract/rules.ts';
import {
  type Item,
  itemsOf,
  type ParameterValues,
  pointersToItems,
  toArray,
  toObject,
} from '../engine/contract/values.ts';

/** Requires that `listCount` equal the number of items in `list`. */
const listCount: SemanticRule = {
  name: 'list-count',
  description: '`listCount` is the number of items in `list`.',
  reads: [],
  excerpt: () => ['/list', '/listCount'],
  check: (json) => {
    const { list, listCount: count } = toObject(json) ?? {};
    if (!Array.isArray(list) || typeof count !== 'number' || list.length === count) return [];
    return [{ at: '/listCount', message: 'listCount must equal the number of items in list' }];
  },
};

/**
 * Expects `listCount` to be at most `pageSize` and at most `totalCount`. The page size is the one in the response, not
 * the requested one, which the server may ignore. A wrong `listCount` and negative numbers are not compared, because
 * the rule `list-count` and the schema report them.
 */
const envelopeCounts: SemanticRule = {
  name: 'envelope-counts',
  description: '`listCount` is expected to be at most `pageSize` and at most `totalCount`.',
  isAdvisory: true,
  reads: [],
  excerpt: () => ['/list', '/listCount', '/pageSize', '/totalCount'],
  check: (json) => {
    const { list, listCount: count, pageSize, totalCount } = toObject(json) ?? {};
    if (!Array.isArray(list) || count !== list.length) return [];
    const isExceeded = (limit: unknown) => typeof limit === 'number' && limit >= 0 && list.length > limit;
    return [
      ...(isExceeded(pageSize) ? [{ at: '/listCount', message: 'listCount is expected to be at most pageSize' }] : []),
      ...(isExceeded(totalCount)
        ? [{ at: '/totalCount', message: 'totalCount is expected to be at least listCount' }]
        : []),
    ];
  },
};

/**
 * Requires that the page number in a response not exceed the response's `pageCount`. The rule does not apply to empty
 * lists or first pages. If the client requested a page past the end, the page bounds check reports the problem instead
 * (docs/rules.md §5).
 */
const pageWithinCount: SemanticRule = {
  name: 'page-within-count',
  description: '`page` is at most `pageCount`, unless the list is empty, or `page` is the first or the requested page.',
  reads: [],
  excerpt: () => ['/page', '/pageCount', '/totalCount'],
  check: (json, { paging }, { page: requested }) => {
    const { page, pageCount, totalCount } = toObject(json) ?? {};
    if (typeof page !== 'number' || typeof pageCount !== 'number' || totalCount === 0) return [];
    const firstPage = paging?.firstPage ?? 1;
    if (page <= Math.max(pageCount, firstPage) || page === (requested ?? firstPage)) return [];
    return [{ at: '/page', message: 'page must not exceed pageCount' }];
  },
};

/**
 * Expects a comment to have recipients only if its visibility is `recipients`. The specification states this for
 * requests that set the fields, not for responses that show them.
 */
const recipientsVisibility: SemanticRule = {
  name: 'recipients-visibility',
  description: '`recipients` is expected only with the visibility `recipients`.',
  isAdvisory: true,
  reads: ['visibility', 'recipients'],
  excerpt: (item) => [`${item}/visibility`, `${item}/recipients`],
  check: (json, operation) =>
    pointersToItems(
      operation.itemsAt,
      json,
      ({ recipients, visibility }) => visibility !== 'recipients' && toArray(recipients).length > 0,
    ).map((at) => ({
      at: `${at}/recipients`,
      message: 'recipients is expected only with the visibility recipients',
    })),
};

/** Requires that `executions` be present in a finished privacy job and absent from a pending one. */
const executionsWhenFinished: SemanticRule = {
  name: 'executions-when-finished',
  description: 'A `FINISHED` job has `executions`, and a `PENDING` job does not.',
  reads: ['status', 'executions'],
  excerpt: (item) => [`${item}/status`, `${item}/executions`],
  check: (json, operation) =>
    pointersToItems(operation.itemsAt, json, (job) => {
      const { status } = job;
      // Jobs with other statuses are not checked, because the meaning of those statuses is unknown.
      return (status === 'FINISHED' || status === 'PENDING') && 'executions' in job !== (status === 'FINISHED');
    }).map((at) => ({
      at: `${at}/executions`,
      message: 'executions must be present if and only if the job is FINISHED',
    })),
};

/** Requires that a canceled action contain the date of the cancellation and the user who canceled it. */
const canceledFields: SemanticRule = {
  name: 'canceled-fields',
  description: 'A canceled action has `canceledByUser` and `canceledDate`.',
  reads: ['canceled', 'canceledByUser', 'canceledDate'],
  excerpt: () => ACTIONS.flatMap((at) => [`${at}/canceled`, `${at}/canceledByUser`, `${at}/canceledDate`]),
  check: (json) =>
    actionsOf(json)
      .filter(({ value }) => value['canceled'] === true)
      .flatMap(({ at, value }) =>
        ['canceledByUser', 'canceledDate']
          .filter((field) => !Object.hasOwn(value, field))
          .map((field) => ({ at: `${at}/${field}`, message: `${field} must be present if an action is canceled` })),
      ),
};

/** Requires that, if the request contains `spaceId`, every item be in the space with that id. */
const spaceFilter: SemanticRule = {
  name: 'space-filter',
  description: 'If the request contains `spaceId`, the `containerIds` of every item that has them contain that id.',
  reads: ['containerIds'],
  requestedId: ({ spaceId }) => spaceId,
  appliesTo: ({ spaceId }) => spaceId !== undefined,
  excerpt: (item) => [`${item}/containerIds/*`],
  check: (json, operation, { spaceId }) => {
    const isSpace = (id: unknown) => isSameId(id, spaceId ?? '');
    return pointersToItems(
      operation.itemsAt,
      json,
      (item) => Object.hasOwn(item, 'containerIds') && !toArray(item['containerIds']).some(isSpace),
    ).map((at) => ({ at: `${at}/containerIds`, message: 'containerIds must contain the requested space' }));
  },
};

/** Requires that the response to removing a favorite contain the canceled `favorited` action for the requested node. */
const unfavoriteResult: SemanticRule = {
  name: 'unfavorite-result',
  description: 'The action is canceled, its verb is `favorited`, and its node is the requested one.',
  reads: ['result'],
  requestedId: ({ path }) => path['nodeId'],
  excerpt: () => excerptOfResult('favoriteAction'),
  check: (json, _, parameters) => canceledResult(json, 'favoriteAction', 'favorited', parameters),
};

/**
 * Requires that the response to removing the wiki mark contain the canceled `wikified` action for the requested node.
 */
const unwikifyResult: SemanticRule = {
  name: 'unwikify-result',
  description: 'The action is canceled, its verb is `wikified`, and its node is the requested one.',
  reads: ['result'],
  requestedId: ({ path }) => path['nodeId'],
  excerpt: () => excerptOfResult('wikifyAction'),
  check: (json, _, parameters) => canceledResult(json, 'wikifyAction', 'wikified', parameters),
};

const DEFAULT_PAGE_SIZE = 20;

/** Requires that a response contain at most 20 actions if no page size was requested. */
const actionPageSize: SemanticRule = {
  name: 'action-page-size',
  description: 'There are at most 20 actions if no `pageSize` was requested.',
  reads: [],
  appliesTo: ({ query }) => !query.has('pageSize'),
  excerpt: () => ['/actions'],
  check: (json) => {
    const tooMany = toArray(toObject(json)?.['actions']).length > DEFAULT_PAGE_SIZE;
    return tooMany
      ? [{ at: '/actions', message: `actions must have at most ${DEFAULT_PAGE_SIZE} items by default` }]
      : [];
  },
};

/** The same range as that of `EpochMilliseconds` in the contract: from 1995 until the beginning of 2100 (UTC). */
const PLAUSIBLE = { from: Date.UTC(1995, 0), to: Date.UTC(2100, 0) } as const;

/**
 * Expects `moreResults` to be a plausible instant in milliseconds. It may also be 0, which a server can send if there
 * are no further actions. The schema cannot make this exception, so it does not limit the range.
 */
const moreResultsRange: SemanticRule = {
  name: 'more-results-range',
  description: '`moreResults` is expected to be 0 or, in milliseconds, between the beginnings of 1995 and 2100.',
  isAdvisory: true,
  reads: [],
  excerpt: () => ['/moreResults'],
  check: (json) => {
    const { moreResults } = toObject(json) ?? {};
    if (typeof moreResults !== 'number' || moreResults === 0) return [];
    if (moreResults >= PLAUSIBLE.from && moreResults <= PLAUSIBLE.to) return [];
    return [{ at: '/moreResults', message: 'moreResults is expected to be milliseconds between 1995 and 2100' }];
  },
};

const STORED = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})$/;
const UNSTORED = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d):(\d\d):(\d\d) (\S+) (\d{4})$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Requires that actions be ordered from newest to oldest, unless a different order was requested. */
const newestFirst: SemanticRule = {
  name: 'newest-first',
  description: 'The newest action comes first if no `sort` was requested.',
  reads: ['actionDate'],
  appliesTo: ({ query }) => !query.has('sort'),
  excerpt: () => ['/actions/*/actionDate'],
  check: (json) => {
    const actions = itemsOf('actions', json).map(({ at, value }) => ({ at, moment: toMoment(value['actionDate']) }));
    return actions
      .filter(({ moment }, index) => {
        const before = actions[index - 1]?.moment;
        // The date of a stored action has no time zone, so it cannot be compared with a date that has one.
        return before && moment && before.zone === moment.zone && before.text < moment.text;
      })
      .map(({ at }) => ({
        at: `${at}/actionDate`,
        message: 'actionDate must not be later than that of the previous action',
      }));
  },
};

/** The types of nodes that the specification names. */
const NODE_TYPES = ['question', 'answer', 'comment', 'idea', 'kbentry', 'ideacomment'] as const;

/**
 * Creates a rule that forbids items with the type of another node. The specification only gives examples of types, so
 * a type that it does not name is not forbidden; the schema reports it. The format of the parameter `type` is not
 * shown, so the rule does not apply to requests that select types with it.
 */
function onlyTypes(name: string, ...types: readonly (typeof NODE_TYPES)[number][]): SemanticRule {
  const others: ReadonlySet<unknown> = new Set(NODE_TYPES.filter((type) => !types.includes(type)));
  return {
    name,
    description: `No item has a node type other than ${types.map((type) => `\`${type}\``).join(' or ')}, unless the request contains \`type\`.`,
    reads: ['type'],
    appliesTo: ({ query }) => !query.has('type'),
    excerpt: (item) => [`${item}/type`],
    check: (json, operation) =>
      pointersToItems(operation.itemsAt, json, ({ type }) => others.has(type)).map((at) => ({
        at: `${at}/type`,
        message: `type must be ${types.join(' or ')} here`,
      })),
  };
}

/** The semantic rules that the contract can list under `x-semantic-rules` (docs/rules.md §7). */
export const SEMANTIC_RULES: readonly SemanticRule[] = [
  listCount,
  envelopeCounts,
  pageWithinCount,
  recipientsVisibility,
  executionsWhenFinished,
  canceledFields,
  spaceFilter,
  unfavoriteResult,
  unwikifyResult,
  actionPageSize,
  moreResultsRange,
  newestFirst,
  onlyTypes('only-questions', 'question'),
  // The type of an article is `kbentry`.
  onlyTypes('only-kbentry', 'kbentry'),
  onlyTypes('only-ideas', 'idea'),
  // Comments on ideas have the type `ideacomment`.
  onlyTypes('only-comments', 'comment', 'ideacomment'),
];

/** JSON pointers to the actions that `actionsOf` can return. */
const ACTIONS = ['/actions/*', '/result/favoriteAction', '/result/wikifyAction'];

/**
 * Returns the actions in a response: those in a list of actions, or the action that was canceled by removing a favorite
 * or a wiki mark.
 */
function actionsOf(json: unknown): Item[] {
  const result = toObject(toObject(json)?.['result']);
  const single = ['favoriteAction', 'wikifyAction'].flatMap((name) => {
    const value = toObject(result?.[name]);
    return value ? [{ at: `/result/${name}`, value }] : [];
  });
  return [...itemsOf('actions', json), ...single];
}

const excerptOfResult = (member: string) =>
  ['canceled', 'verb', 'node/id'].map((field) => `/result/${member}/${field}`);

const DIGITS = /^\d+$/;

/**
 * Returns whether an id in a response is the requested one. An id above 2^53 is a string of digits if the body's text
 * is known, and rounded otherwise.
 */
function isSameId(id: unknown, requested: string): boolean {
  if (typeof id === 'number') return id === Number(requested);
  return id === requested.replace(/^0+(?=\d)/, '');
}

/**
 * Checks the response to removing a favorite or a wiki mark. Its action must be canceled, have the expected verb and
 * refer to the requested node.
 */
function canceledResult(json: unknown, member: string, verb: string, { path }: ParameterValues): Finding[] {
  const action = toObject(toObject(toObject(json)?.['result'])?.[member]);
  if (!action) return [];
  const at = `/result/${member}`;
  const findings: Finding[] = [];
  // If `canceled` is absent, the schema reports it.
  if (Object.hasOwn(action, 'canceled') && action['canceled'] !== true)
    findings.push({ at: `${at}/canceled`, message: `${member} must be canceled` });
  if (action['verb'] !== verb) findings.push({ at: `${at}/verb`, message: `${member} must have the verb ${verb}` });
  const { nodeId = '' } = path;
  const id = toObject(action['node'])?.['id'];
  if ((typeof id === 'number' || typeof id === 'string') && DIGITS.test(nodeId) && !isSameId(id, nodeId))
    findings.push({ at: `${at}/node/id`, message: `${member} must concern the requested node` });
  return findings;
}

interface Moment {
  /** The date's time zone, or an empty string for a date without one. */
  readonly zone: string;
  /** The digits of the date, arranged so that the strings sort chronologically. */
  readonly text: string;
}

function toMoment(date: unknown): Moment | undefined {
  if (typeof date !== 'string') return undefined;
  const stored = STORED.exec(date);
  if (stored) return { zone: '', text: [...stored.slice(1, 7), (stored[7] ?? '').padEnd(9, '0')].join('') };
  const unstored = UNSTORED.exec(date);
  if (!unstored) return undefined;
  const [, month = '', day = '', hour = '', minute = '', second = '', zone = '', year = ''] = unstored;
  const monthNumber = String(MONTHS.indexOf(month) + 1).padStart(2, '0');
  return { zone, text: year + monthNumber + day + hour + minute + second };
}
