import { describe, expect, it } from 'vitest';
import { optionsOf } from '../../../src/engine/config/configurable.ts';
import { readSettings } from '../../../src/portico-settings.ts';
import { PROFILE } from '../../../src/profile/profile.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import type { CheckLevel } from '../../../src/engine/model/checks.ts';
import { createCheckBody } from '../../../src/engine/pipeline/request-rules.ts';
import { type ExchangeParts, exchangeWith, plannedWith, violationWith } from '../../builders/exchange.ts';

const { settings } = readSettings({ env: {}, cwd: tempFolder(), given: { gdpr: { maxRows: 2 } } });

interface World {
  readonly comments?: Readonly<Record<string, unknown>>;
  readonly holds?: readonly string[];
  readonly schema?: readonly ReturnType<typeof violationWith>[];
  readonly level?: CheckLevel;
}

async function inspected(
  rules: string | readonly string[],
  body: unknown,
  world: World = {},
  parts: ExchangeParts = {},
) {
  const { comments = {}, holds = ALL, schema = [], level = 'enforce' } = world;
  const asked: string[] = [];
  const planCheck = createCheckBody({
    schema: () => schema,
    rules: PROFILE.requestRules,
    optionsOf: (name) => optionsOf(settings, { name }),
    hasPermission: (_exchange, permission) => holds.includes(permission),
    lookUp: (target) => {
      asked.push(target);
      return Promise.resolve(comments[target]);
    },
  });
  const planned = plannedWith({ operation: { requestRules: [rules].flat() }, checks: { requests: level } });
  return { ...(await planCheck(planned).check(body, exchangeWith(parts))), asked };
}

const ALL = [
  'Use Private Comments',
  'Send private comments to the original poster',
  'Send private comments to moderators',
  'Send private comments to own groups',
];
const onComment = { values: { path: { commentId: '9' } } };
const onNode = { values: { path: { nodeId: '7' } } };
const comment = (more: object) => ({ type: 'comment', ...more });

const stored = (visibility?: string) => ({
  comments: { '/services/v2/comment/9.json': comment({ visibility, originalParentId: null }) },
});

describe('the check of a body', () => {
  it('ends if the schema finds a violation', async () => {
    const schema = [violationWith()];
    expect(await inspected('gdpr-csv', { content: '' }, { schema })).toMatchObject({ violations: schema });
  });

  it('finds nothing if the schema covers everything', async () => {
    expect((await inspected([], {})).violations).toEqual([]);
  });
});

describe('the rules about request bodies', () => {
  // Each new rule name needs a body that violates the rule.
  const BROKEN: Readonly<Record<string, object>> = {
    'gdpr-csv': { content: 'username\n' },
    'comment-visibility': { recipients: [{ id: 1 }] },
  };
  const names = PROFILE.requestRules.map((rule) => rule.name);
  const [csv, visibility] = ['gdpr-csv-no-user', 'recipients_without_visibility'] as const;

  it.each(names)('run %s for an operation that names it, and only then', async (name) => {
    expect((await inspected(name, BROKEN[name] ?? {}, {}, onNode)).violations).toHaveLength(1);
    expect((await inspected([], BROKEN[name], {}, onNode)).violations).toEqual([]);
  });

  it('all run, in the order in which the operation names them', async () => {
    const body = Object.assign({}, ...Object.values(BROKEN)) as object;
    const found = await inspected(['gdpr-csv', 'comment-visibility'], body, {}, onNode);
    expect(found.violations.map(({ keyword }) => keyword)).toEqual([csv, visibility]);
    const reversed = await inspected(['comment-visibility', 'gdpr-csv'], body, {}, onNode);
    expect(reversed.violations.map(({ keyword }) => keyword)).toEqual([visibility, csv]);
  });

  it('refuse with the code of the first violated rule, and with the details of all of them', async () => {
    const body = Object.assign({}, ...Object.values(BROKEN)) as object;
    const found = await inspected(['comment-visibility', 'gdpr-csv'], body, {}, onNode);
    expect(found).toMatchObject({ code: { code: 'recipients_without_visibility' } });
    expect(found.details).toHaveLength(2);
    expect(await inspected(['gdpr-csv', 'comment-visibility'], body, {}, onNode)).not.toHaveProperty('code');
    const valid = { ...body, content: 'username\nalice\n' };
    expect(await inspected(['gdpr-csv', 'comment-visibility'], valid, {}, onNode)).toMatchObject({
      code: { code: 'recipients_without_visibility' },
    });
  });
});

describe('the check of an upload', () => {
  it('accepts users within the row limit', async () => {
    expect((await inspected('gdpr-csv', { content: 'username\nalice\nbob\n' })).violations).toEqual([]);
  });

  it('names the invalid rows', async () => {
    const { violations, details } = await inspected('gdpr-csv', { content: 'userId,username\n,\n' });
    expect(violations).toHaveLength(1);
    expect(details).toMatchObject([{ row: 2 }]);
    expect((await inspected('gdpr-csv', { content: 'username\na\nb\nc\n' })).violations).not.toEqual([]);
  });
});

describe('the check of a comment', () => {
  it('needs no lookup for a comment without a visibility', async () => {
    expect(await inspected('comment-visibility', { body: 'x' }, {}, onComment)).toEqual({ violations: [], asked: [] });
  });

  it('accepts recipients without a visibility only for a comment already sent to recipients', async () => {
    const body = { recipients: [{ id: 1, type: 'user' }] };
    expect((await inspected('comment-visibility', body, stored('recipients'), onComment)).violations).toEqual([]);
    const refused = await inspected('comment-visibility', body, stored(), onComment);
    expect(refused).toMatchObject({ code: { code: 'recipients_without_visibility' } });
    expect((await inspected('comment-visibility', body, {}, onComment)).violations).toEqual([]);
    expect(await inspected('comment-visibility', body, {}, onNode)).toMatchObject({
      code: { code: 'recipients_without_visibility' },
    });
  });

  it('applies the same rule to replies to comments of ideas', async () => {
    const comments = { '/services/v2/comment/7.json': { type: 'ideacomment', visibility: 'moderators' } };
    const found = await inspected('comment-visibility', { visibility: 'originalPoster' }, { comments }, onNode);
    expect(found).toMatchObject({ code: { code: 'visibility_not_inherited' } });
  });

  it('restricts a reply to the visibility of its parent', async () => {
    const comments = { '/services/v2/comment/7.json': comment({ visibility: 'moderators' }) };
    const found = await inspected('comment-visibility', { visibility: 'originalPoster' }, { comments }, onNode);
    expect(found).toMatchObject({
      code: { code: 'visibility_not_inherited' },
      details: [{ name: '/visibility' }],
      violations: [{ category: 'semantic', location: 'body', keyword: 'visibility_not_inherited', at: '/visibility' }],
    });
  });

  it("restricts a changed comment to its parent's visibility", async () => {
    const comments = {
      '/services/v2/comment/9.json': comment({ originalParentId: 7, visibility: 'originalPoster' }),
      '/services/v2/comment/7.json': comment({ visibility: 'moderators' }),
    };
    const found = await inspected('comment-visibility', { visibility: 'originalPoster' }, { comments }, onComment);
    expect(found.code).toMatchObject({ code: 'visibility_not_inherited' });
    expect(found.asked).toEqual(Object.keys(comments));
  });

  it.each([
    ['is a question', { '/services/v2/comment/7.json': { type: 'question', visibility: 'moderators' } }],
    ['cannot be read', {}],
    ['is public', { '/services/v2/comment/7.json': comment({}) }],
  ])('accepts a reply whose parent %s', async (_why, comments) => {
    expect(
      (await inspected('comment-visibility', { visibility: 'recipients' }, { comments }, onNode)).violations,
    ).toEqual([]);
  });

  it('accepts a changed comment whose parent is unknown', async () => {
    const comments = { '/services/v2/comment/9.json': comment({ originalParentId: null }) };
    const found = await inspected('comment-visibility', { visibility: 'recipients' }, { comments }, onComment);
    expect(found).toEqual({ violations: [], asked: ['/services/v2/comment/9.json'] });
  });

  it('refuses a visibility that the caller may not use', async () => {
    const found = await inspected('comment-visibility', { visibility: 'recipients' }, { holds: [] }, onNode);
    expect(found).toMatchObject({
      code: { code: 'visibility_not_permitted' },
      details: [{ permission: 'Use Private Comments' }],
    });
  });

  it('leaves that decision to the upstream for a caller whom only the upstream knows', async () => {
    const parts = { ...onNode, delegated: true };
    expect(
      (await inspected('comment-visibility', { visibility: 'recipients' }, { holds: [] }, parts)).violations,
    ).toEqual([]);
  });

  it('refuses recipients without their visibility', async () => {
    const found = await inspected('comment-visibility', { recipients: [{ id: 1 }] }, {}, onNode);
    expect(found.code).toMatchObject({ code: 'recipients_without_visibility' });
  });

  it('needs no lookup for a request that will not be refused', async () => {
    const found = await inspected('comment-visibility', { visibility: 'recipients' }, { level: 'report' }, onNode);
    expect(found.asked).toEqual([]);
  });

  it('needs no lookup for an invalid id', async () => {
    const parts = { values: { path: { nodeId: '../admin' } } };
    expect((await inspected('comment-visibility', { visibility: 'recipients' }, {}, parts)).asked).toEqual([]);
  });
});
