import { describe, expect, it } from 'vitest';
import { DEFAULT_COMMENTS_OPTIONS } from '../../src/comments/comments-options.ts';
import type { CheckLevel } from '../../src/model/checks.ts';
import { createCheckBody } from '../../src/pipeline/check-body.ts';
import { type ExchangeParts, exchangeWith, plannedWith, violationWith } from '../builders/exchange.ts';

interface World {
  readonly comments?: Readonly<Record<string, unknown>>;
  readonly holds?: readonly string[];
  readonly schema?: readonly ReturnType<typeof violationWith>[];
  readonly level?: CheckLevel;
}

async function checked(rule: string, body: unknown, world: World = {}, parts: ExchangeParts = {}) {
  const { comments = {}, holds = ALL, schema = [], level = 'enforce' } = world;
  const asked: string[] = [];
  const check = createCheckBody({
    schema: () => schema,
    gdpr: { duplicateWindowSeconds: 600, maxRows: 2 },
    comments: DEFAULT_COMMENTS_OPTIONS,
    holds: (_exchange, permission) => holds.includes(permission),
    lookUp: (target) => {
      asked.push(target);
      return Promise.resolve(comments[target]);
    },
  });
  const planned = plannedWith({ operation: { requestRules: [rule] }, checks: { requests: level } });
  return { ...(await check(planned, body, exchangeWith(parts))), asked };
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
  it('is done when the schema finds something', async () => {
    const schema = [violationWith()];
    expect(await checked('gdpr-csv', { content: '' }, { schema })).toMatchObject({ violations: schema });
  });

  it('finds nothing where the schema says all', async () => {
    expect((await checked('', {})).violations).toEqual([]);
  });
});

describe('the check of an upload', () => {
  it('passes users within the limit of rows', async () => {
    expect((await checked('gdpr-csv', { content: 'username\nalice\nbob\n' })).violations).toEqual([]);
  });

  it('names the rows that are wrong', async () => {
    const { violations, details } = await checked('gdpr-csv', { content: 'userId,username\n,\n' });
    expect(violations).toHaveLength(1);
    expect(details).toMatchObject([{ row: 2 }]);
    expect((await checked('gdpr-csv', { content: 'username\na\nb\nc\n' })).violations).not.toEqual([]);
  });
});

describe('the check of a comment', () => {
  it('asks nobody for a comment that says nothing of visibility', async () => {
    expect(await checked('comment-visibility', { body: 'x' }, {}, onComment)).toEqual({ violations: [], asked: [] });
  });

  it('takes recipients alone for a comment that is sent to recipients already, and refuses them elsewhere', async () => {
    const body = { recipients: [{ id: 1, type: 'user' }] };
    expect((await checked('comment-visibility', body, stored('recipients'), onComment)).violations).toEqual([]);
    const refused = await checked('comment-visibility', body, stored(), onComment);
    expect(refused).toMatchObject({ code: 'recipients_without_visibility' });
    expect((await checked('comment-visibility', body, {}, onComment)).violations).toEqual([]);
    expect(await checked('comment-visibility', body, {}, onNode)).toMatchObject({
      code: 'recipients_without_visibility',
    });
  });

  it('holds replies to comments of ideas to the same rule', async () => {
    const comments = { '/services/v2/comment/7.json': { type: 'ideacomment', visibility: 'moderators' } };
    const found = await checked('comment-visibility', { visibility: 'originalPoster' }, { comments }, onNode);
    expect(found).toMatchObject({ code: 'visibility_not_inherited' });
  });

  it('holds a reply to the visibility of what it replies to', async () => {
    const comments = { '/services/v2/comment/7.json': comment({ visibility: 'moderators' }) };
    const found = await checked('comment-visibility', { visibility: 'originalPoster' }, { comments }, onNode);
    expect(found).toMatchObject({
      code: 'visibility_not_inherited',
      details: [{ name: '/visibility' }],
      violations: [{ category: 'semantic', location: 'body', keyword: 'visibility_not_inherited', at: '/visibility' }],
    });
  });

  it("holds a changed comment to its parent's visibility", async () => {
    const comments = {
      '/services/v2/comment/9.json': comment({ originalParentId: 7, visibility: 'originalPoster' }),
      '/services/v2/comment/7.json': comment({ visibility: 'moderators' }),
    };
    const found = await checked('comment-visibility', { visibility: 'originalPoster' }, { comments }, onComment);
    expect(found.code).toBe('visibility_not_inherited');
    expect(found.asked).toEqual(Object.keys(comments));
  });

  it.each([
    ['is a question', { '/services/v2/comment/7.json': { type: 'question', visibility: 'moderators' } }],
    ['cannot be read', {}],
    ['is public', { '/services/v2/comment/7.json': comment({}) }],
  ])('leaves a reply alone whose parent %s', async (_why, comments) => {
    expect(
      (await checked('comment-visibility', { visibility: 'recipients' }, { comments }, onNode)).violations,
    ).toEqual([]);
  });

  it('leaves a changed comment alone whose parent is not told', async () => {
    const comments = { '/services/v2/comment/9.json': comment({ originalParentId: null }) };
    const found = await checked('comment-visibility', { visibility: 'recipients' }, { comments }, onComment);
    expect(found).toEqual({ violations: [], asked: ['/services/v2/comment/9.json'] });
  });

  it('refuses a visibility that the caller may not use', async () => {
    const found = await checked('comment-visibility', { visibility: 'recipients' }, { holds: [] }, onNode);
    expect(found).toMatchObject({
      code: 'visibility_not_permitted',
      details: [{ permission: 'Use Private Comments' }],
    });
  });

  it('leaves that to the upstream for a caller whom only it knows', async () => {
    const parts = { ...onNode, delegated: true };
    expect(
      (await checked('comment-visibility', { visibility: 'recipients' }, { holds: [] }, parts)).violations,
    ).toEqual([]);
  });

  it('refuses recipients without their visibility', async () => {
    const found = await checked('comment-visibility', { recipients: [{ id: 1 }] }, {}, onNode);
    expect(found.code).toBe('recipients_without_visibility');
  });

  it('looks nothing up for a request that is not going to be refused', async () => {
    const found = await checked('comment-visibility', { visibility: 'recipients' }, { level: 'report' }, onNode);
    expect(found.asked).toEqual([]);
  });

  it('looks nothing up for an id that is none', async () => {
    const parts = { values: { path: { nodeId: '../admin' } } };
    expect((await checked('comment-visibility', { visibility: 'recipients' }, {}, parts)).asked).toEqual([]);
  });
});
