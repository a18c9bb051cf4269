import { describe, expect, it } from 'vitest';
import { compileFieldShape } from '../../../src/engine/contract/explain/compile-field-shape.ts';
import { findUnmetExpectations } from '../../../src/engine/contract/explain/advisories.ts';
import type { SchemaObject } from '../../../src/engine/contract/openapi-document.ts';
import { DEFAULT_JSON_LIMITS } from '../../../src/lib/bounded-json.ts';
import { openScanner } from '../../../src/engine/scanner/open-scanner.ts';
import { bent, contract, example, found, judge } from './sample.ts';

interface Quirk {
  readonly name: string;
  readonly operation: string;
  readonly sample: string;
  readonly query?: string;
  /**
   * Changes to the sample that must be reported. Each consists of a path, the new value (undefined removes the
   * current value) and the expected violation.
   */
  readonly deviations: readonly (readonly [path: string, value: unknown, expected: string])[];
  /** Changes to the sample that must be reported but do not make the response invalid. */
  readonly advisories?: readonly (readonly [path: string, value: unknown, expected: string])[];
  /** Changes to the sample that must be accepted. */
  readonly tolerated?: readonly (readonly [path: string, value: unknown])[];
}

const QUIRKS: readonly Quirk[] = [
  {
    name: 'ideas have string ids, plug instead of slug, topic names, and null parents',
    operation: 'listIdeas',
    sample: 'ideas',
    deviations: [
      ['list.0.id', 510, 'type /list/0/id'],
      ['list.0.slug', 'a-dark-theme', 'not /list/0/slug'],
      ['list.0.topics', [{ id: 33, name: 'theme' }], 'type /list/0/topics/0'],
      ['list.0.parentId', 7, 'type /list/0/parentId'],
      ['list.0.parentAuthor', { id: 1 }, 'type /list/0/parentAuthor'],
      ['list.0.viewCount', 1, 'not /list/0/viewCount'],
      ['list.0.upVoteCount', 1, 'not /list/0/upVoteCount'],
      ['list.0.downVoteCount', 1, 'not /list/0/downVoteCount'],
      ['list.0.author.realname', 5, 'type /list/0/author/realname'],
    ],
    advisories: [
      ['list.0.plug', undefined, 'x-expected /list/0/plug'],
      ['list.0.reportCount', undefined, 'x-expected /list/0/reportCount'],
      ['list.0.author.avatar', undefined, 'x-expected /list/0/author/avatar'],
      ['list.0.author.avatar', 'a picture', 'x-expected-pattern /list/0/author/avatar'],
    ],
    tolerated: [
      ['list.0.author.emailHash', undefined],
      ['list.0.author.realname', 'P. Zed'],
      ['list.0.author.avatar', '/avatar/18.png'],
      ['list.0.author.avatar', '//pictures.invalid/18.png'],
      ['list.0.author.avatar', 'https://pictures.invalid/18.png?d=x'],
    ],
  },
  {
    name: 'questions have integer ids, slugs and complete topics, and no parent',
    operation: 'listQuestions',
    sample: 'questions',
    deviations: [
      ['list.0.id', '118', 'type /list/0/id'],
      ['list.0.topics', ['build'], 'type /list/0/topics/0'],
      ['list.0.parentId', null, 'not /list/0/parentId'],
      ['list.0.parentAuthor', null, 'not /list/0/parentAuthor'],
      ['list.0.creationDate', '2019-02-06', 'type /list/0/creationDate'],
    ],
    advisories: [
      ['list.0.slug', undefined, 'x-expected /list/0/slug'],
      ['list.0.originalParentId', undefined, 'x-expected /list/0/originalParentId'],
      ['list.0.viewCount', undefined, 'x-expected /list/0/viewCount'],
      ['list.0.answers', undefined, 'x-expected /list/0/answers'],
      ['list.0.creationDateFormatted', '2019-02-06 15:01', 'x-expected-pattern /list/0/creationDateFormatted'],
      ['list.0.creationDateFormatted', '13/06/2019 03:01 PM', 'x-expected-pattern /list/0/creationDateFormatted'],
      ['list.0.creationDateFormatted', '02/32/2019 03:01 PM', 'x-expected-pattern /list/0/creationDateFormatted'],
      ['list.0.creationDateFormatted', '02/06/2019 15:01 PM', 'x-expected-pattern /list/0/creationDateFormatted'],
      ['list.0.creationDateFormatted', '02/30/2020 03:01 PM', 'x-expected-pattern /list/0/creationDateFormatted'],
      ['list.0.creationDate', 1_549_465_260, 'x-expected-minimum /list/0/creationDate'],
      ['list.0.creationDate', 0, 'x-expected-minimum /list/0/creationDate'],
      ['list.0.lastActiveDate', 1_549_465_260_000_000, 'x-expected-maximum /list/0/lastActiveDate'],
    ],
    tolerated: [
      ['list.0.creationDateFormatted', '02/29/2020 03:01 PM'],
      ['list.0.creationDate', 788_918_400_000],
      ['list.0.creationDate', 4_102_444_800_000],
      ['list.0.originalParentId', 5],
      ['list.0.lastEditedAction', undefined],
      ['list.0.answers', [{ id: 204 }]],
      ['list.0.attachments', [{ anything: 'goes' }]],
      ['list.0.topics.0.getParents', []],
      ['list.0.somethingNew', true],
      ['somethingNew', true],
    ],
  },
  {
    name: 'question, idea, article and answer-comment lists offer sorts with known names',
    operation: 'listQuestions',
    sample: 'questions',
    deviations: [['sorts', undefined, 'required /sorts']],
    advisories: [['sorts', ['oldest'], 'x-expected-enum /sorts/0']],
    tolerated: [['sorts', []]],
  },
  {
    name: 'article lists offer sorts',
    operation: 'listArticles',
    sample: 'articles',
    deviations: [['sorts', undefined, 'required /sorts']],
  },
  {
    name: 'answer-comment lists are enveloped and offer sorts',
    operation: 'listAnswerComments',
    sample: 'answerComments',
    deviations: [
      ['sorts', undefined, 'required /sorts'],
      ['totalCount', undefined, 'required /totalCount'],
    ],
  },
  {
    name: 'follower lists start at page 0 and have no sorts',
    operation: 'listTopicFollowers',
    sample: 'followers',
    deviations: [['sorts', [], 'not /sorts']],
    advisories: [['page', -1, 'x-expected-minimum /page']],
    tolerated: [['page', 1]],
  },
  {
    name: 'node follower lists have no sorts',
    operation: 'listNodeFollowers',
    sample: 'followers',
    deviations: [['sorts', ['active'], 'not /sorts']],
  },
  {
    name: 'group user lists have no sorts; groups of users have string ids',
    operation: 'listGroupUsers',
    sample: 'groupUsers',
    deviations: [
      ['sorts', ['reputation'], 'not /sorts'],
      ['list.0.groups.0.id', 7, 'type /list/0/groups/0/id'],
      ['list.0.type', 'person', 'const /list/0/type'],
    ],
    advisories: [['list.0.groups', undefined, 'x-expected /list/0/groups']],
    tolerated: [['list.0.realname', undefined]],
  },
  {
    name: 'expertise lists have no sorts',
    operation: 'listExpertise',
    sample: 'expertise',
    deviations: [['sorts', ['active'], 'not /sorts']],
    advisories: [['list.0.usedCount', undefined, 'x-expected /list/0/usedCount']],
  },
  {
    name: 'follow relations are open, but their envelope is not',
    operation: 'listNodeFollowers',
    sample: 'followRelations',
    query: 'details=true',
    deviations: [['pageCount', undefined, 'required /pageCount']],
    advisories: [['list', ['a name'], 'x-expected-type /list/0']],
    tolerated: [['list', [{}]]],
  },
  {
    name: 'comments of a node are a bare array',
    operation: 'listNodeComments',
    sample: 'nodeComments',
    deviations: [],
    advisories: [['0.author', undefined, 'x-expected /0/author']],
  },
  {
    name: 'comments have no title and no container',
    operation: 'getComment',
    sample: 'comment',
    deviations: [
      ['title', 'A title', 'not /title'],
      ['primaryContainerId', 5, 'not /primaryContainerId'],
      ['containerIds', [5], 'maxItems /containerIds'],
      ['topics', ['build'], 'type /topics/0'],
      ['parentId', 118, 'not /parentId'],
    ],
  },
  {
    name: 'recipients are groups or users',
    operation: 'getComment',
    sample: 'privateComment',
    deviations: [],
    advisories: [
      ['recipients.0.type', 'role', 'x-expected-enum /recipients/0/type'],
      ['recipients.0.name', undefined, 'x-expected /recipients/0/name'],
    ],
    tolerated: [['recipients', []]],
  },
  {
    name: 'actions contain either of two date forms, a null extra and the instant from which to continue',
    operation: 'listActions',
    sample: 'actions',
    deviations: [
      ['moreResults', undefined, 'required /moreResults'],
      ['moreResults', true, 'type /moreResults'],
    ],
    advisories: [
      ['actions.0.actionDate', '2019-02-06T15:01:00Z', 'x-expected-pattern /actions/0/actionDate'],
      ['actions.0.actionDate', '2019-02-06 25:01:00.0', 'x-expected-pattern /actions/0/actionDate'],
      ['actions.0.actionDate', '2019-02-29 15:01:00.0', 'x-expected-pattern /actions/0/actionDate'],
      ['actions.0.actionDate', 'Sat Feb 30 15:05:50 UTC 2019', 'x-expected-pattern /actions/0/actionDate'],
      ['actions.0.actionDate', 'Wed Foo 06 15:05:50 UTC 2019', 'x-expected-pattern /actions/0/actionDate'],
      ['actions.0.user.avatarUrl', '18.png', 'x-expected-pattern /actions/0/user/avatarUrl'],
      ['actions.1.canceledDate', 'Wed Apr 31 15:05:50 UTC 2019', 'x-expected-pattern /actions/1/canceledDate'],
      ['actions.1.canceledDate', '2019-02-06 15:01:00.0', 'x-expected-pattern /actions/1/canceledDate'],
      ['actions.0.ip', undefined, 'x-expected /actions/0/ip'],
      ['actions.0.extra', 5, 'x-expected-type /actions/0/extra'],
    ],
    tolerated: [
      ['actions.0.extra', 'a reason'],
      ['actions.0.verb', 'locked'],
      ['actions.0.actionDate', '2019-02-08 15:01:00.123'],
      ['actions.0.actionDate', 'Sat Feb 29 15:05:50 GMT+01:00 2020'],
      ['actions.1.canceledDate', 'Sat Feb 29 15:05:50 CET 2020'],
    ],
  },
  {
    name: 'a pending job has a schedule time in its own form and a known status',
    operation: 'getGdprJob',
    sample: 'pendingJob',
    deviations: [['id', '42', 'type /id']],
    advisories: [
      ['scheduleTime', '02/07/2019 03:00 PM', 'x-expected-pattern /scheduleTime'],
      ['scheduleTime', '00/07/2019 15:00', 'x-expected-pattern /scheduleTime'],
      ['scheduleTime', '06/31/2019 15:00', 'x-expected-pattern /scheduleTime'],
      ['status', 'RUNNING', 'x-expected-enum /status'],
    ],
    tolerated: [['operations', 'anon-delete']],
  },
  {
    name: 'a finished job lists its executions',
    operation: 'getGdprJob',
    sample: 'finishedJob',
    deviations: [],
    advisories: [['executions.0.executionURL', undefined, 'x-expected /executions/0/executionURL']],
  },
  {
    name: "attachments have the tracker's shape",
    operation: 'copyAttachments',
    sample: 'trackerAttachments',
    deviations: [['0.id', 10500, 'type /0/id']],
    advisories: [
      ['0.created', '02/07/2019 15:05', 'x-expected-pattern /0/created'],
      ['0.created', '2019-02-07T15:65:50.000+0000', 'x-expected-pattern /0/created'],
      ['0.created', '2019-02-29T15:05:50.000+0000', 'x-expected-pattern /0/created'],
      ['0.content', 'build.log', 'x-expected-pattern /0/content'],
      ['0.author.avatarUrls.48x48', undefined, 'x-expected /0/author/avatarUrls/48x48'],
    ],
    tolerated: [['0.thumbnail', undefined]],
  },
  {
    name: 'removing a favorite returns the action and the count',
    operation: 'unmarkFavorite',
    sample: 'unfavorite',
    deviations: [
      ['success', 'true', 'type /success'],
      ['result.favoriteCount', undefined, 'required /result/favoriteCount'],
    ],
  },
  {
    name: 'removing the wiki mark returns the action',
    operation: 'cancelWiki',
    sample: 'unwikify',
    deviations: [['result.wikifyAction', undefined, 'required /result/wikifyAction']],
  },
];

describe.each(QUIRKS)(
  'the contract models that $name',
  ({ operation, sample, query, deviations, advisories = [], tolerated = [] }) => {
    const more = query === undefined ? {} : { query };

    it('accepts the sample', () => {
      expect(judge(operation, example(sample), more)).toEqual({ verdict: 'valid', violations: [], reported: [] });
    });

    if (deviations.length > 0)
      it.each(deviations)('reports %s changed to %j', (path, value, expected) => {
        const judgement = judge(operation, bent(example(sample), path, value), more);
        expect(judgement.verdict).toBe('violations');
        expect(found(judgement)).toContain(expected);
      });

    if (advisories.length > 0)
      it.each(advisories)('advises of %s changed to %j, and accepts it', (path, value, expected) => {
        const { verdict, violations, reported } = judge(operation, bent(example(sample), path, value), more);
        expect({ verdict, violations }).toEqual({ verdict: 'valid', violations: [] });
        expect(reported.map(({ category, keyword, at }) => `${category} ${keyword} ${at}`)).toEqual([
          `advisory ${expected}`,
        ]);
      });

    if (tolerated.length > 0)
      it.each(tolerated)('accepts %s changed to %j', (path, value) => {
        expect(found(judge(operation, bent(example(sample), path, value), more))).toEqual([]);
      });
  },
);

describe('the shapes of complete responses', () => {
  it('are not interchangeable: an envelope is not accepted for an array, nor an array for an envelope', () => {
    expect(found(judge('listNodeComments', example('answerComments')))).toEqual(['type ']);
    expect(found(judge('listAnswerComments', example('nodeComments')))[0]).toBe('type ');
  });

  it('require fileId but accept any type of it', () => {
    for (const fileId of ['f-1', 17, null])
      expect(judge('uploadGdprFile', { fileId }, { status: 201 }).verdict).toBe('valid');
    expect(found(judge('uploadGdprFile', {}, { status: 201 }))).toEqual(['required /fileId']);
  });

  it('are documented with 201 for the upload and 200 for all other operations', () => {
    expect(found(judge('uploadGdprFile', { fileId: 1 }))).toEqual(['status ']);
    expect(found(judge('cancelWiki', example('unwikify'), { status: 201 }))).toEqual(['status ']);
  });
});

/** Common years and leap years, including centuries. */
const YEARS = [1900, 1999, 2000, 2004, 2018, 2020, 2100];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const DAYS: readonly Day[] = YEARS.flatMap((year) =>
  Array.from({ length: 14 }, (_, month) => Array.from({ length: 33 }, (__, day): Day => ({ year, month, day }))).flat(),
);

const two = (number: number) => String(number).padStart(2, '0');
const exists = ({ year, month, day }: Day) => {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};
const american = ({ year, month, day }: Day) => `${two(month)}/${two(day)}/${year}`;
const iso = ({ year, month, day }: Day) => `${year}-${two(month)}-${two(day)}`;
const spoken = ({ year, month, day }: Day) => `Sat ${MONTHS[month - 1] ?? 'Foo'} ${two(day)} 23:59:59 CET ${year}`;

const TEXTS: readonly (readonly [field: string, resource: string, text: (day: Day) => string])[] = [
  ['creationDateFormatted', 'formatted-date', (day) => `${american(day)} 12:59 PM`],
  ['actionDate', 'action-date', (day) => `${iso(day)} 23:59:59.5`],
  ['actionDate', 'action-date', spoken],
  ['canceledDate', 'canceled-date', spoken],
  ['scheduleTime', 'schedule-time', (day) => `${american(day)} 23:59`],
  ['created', 'tracker-attachment', (day) => `${iso(day)}T23:59:59.999+0530`],
];

describe.each(TEXTS)('the form of %s (resources/%s)', (field, resource, textOf) => {
  const file = `resources/${resource}.schema.json`;
  const whole = contract.schemas.get(file) ?? {};
  const schema = (whole.properties?.[field] ?? whole) as SchemaObject;
  const departing = DAYS.filter((day) => !exists(day)).map(textOf);

  it('contains exactly the dates that exist in the calendar', () => {
    const shape = compileFieldShape(new Map([[file, schema]]), file);
    expect(DAYS.map(textOf).filter((text) => findUnmetExpectations(shape, text).length > 0)).toEqual(departing);
  });

  it('is the same for the scanner', () => {
    const scanner = openScanner(DEFAULT_JSON_LIMITS).compile({
      schemas: new Map(),
      schema: { schema, path: file },
      excerpt: [],
    });
    const departs = (text: string) =>
      scanner.scan(Buffer.from(JSON.stringify(text)))?.differences.departures.length !== 0;
    expect(DAYS.map(textOf).filter(departs)).toEqual(departing);
  });

  it('has hours, minutes and seconds in range', () => {
    const pattern = new RegExp(schema['x-expected-pattern'] ?? '', 'u');
    const text = textOf({ year: 2020, month: 2, day: 29 });
    expect(text).toMatch(pattern);
    for (const time of ['24:59', '13:60', '25:00']) expect(text.replace(/\d\d:\d\d/, time)).not.toMatch(pattern);
  });
});
