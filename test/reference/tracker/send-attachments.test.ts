import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReferenceServer, type ReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { clientOf, type ReceivedResponse } from '../reference-client.ts';
import { withReferenceServer } from '../with-reference-server.ts';
import { anyText, textLike } from '../matchers.ts';

const { call, server, questions } = withReferenceServer();
const FORBIDDEN = { error: "Attachments is disabled or you don't have permission to add attachments to this issue." };
let withFiles = 0;
let without = 0;

beforeAll(async () => {
  const all = await questions();
  withFiles = all.find(({ attachments }) => attachments.length > 1).id;
  without = all.find(({ attachments }) => attachments.length === 0).id;
});

const copy = (
  nodeId: number | string,
  issueId: number | string,
  user: string | null = 'admin',
): Promise<ReceivedResponse> =>
  call(`/issuetracker/node/${nodeId}/issue/${issueId}/attachments.json`, { method: 'POST', user });

describe('operation 3, the attachment copy', () => {
  it('returns the objects of the tracker, which stores the files', async () => {
    const { attachments } = (await call(`/question/${withFiles}.json`)).json;
    const { status, items } = await copy(withFiles, 10001);
    expect([status, items.length]).toEqual([200, attachments.length]);
    const [first] = items;
    expect(first).toEqual({
      self: textLike(/^http/),
      id: anyText,
      filename: attachments[0].name,
      author: {
        self: anyText,
        name: anyText,
        key: anyText,
        accountId: anyText,
        emailAddress: anyText,
        avatarUrls: {
          '48x48': anyText,
          '24x24': anyText,
          '16x16': anyText,
          '32x32': anyText,
        },
        displayName: anyText,
        active: true,
        timeZone: anyText,
      },
      created: '2026-05-04T10:30:15.250+0000',
      size: attachments[0].size,
      mimeType: attachments[0].mimeType,
      content: textLike(/^http/),
      thumbnail: textLike(/^http/),
    });
    const origin = server().url;
    const stored = await clientOf(origin)(attachments[0].url);
    const copied = await clientOf(server().trackerUrl)(new URL(first.content).pathname);
    expect([copied.status, copied.text]).toEqual([200, stored.text]);
  });

  it('returns an empty array for a node without attachments', async () => {
    const response = await copy(without, 10001);
    expect([response.status, response.json]).toEqual([200, []]);
  });

  it('responds with the documented 403 to callers without the permission', async () => {
    const statuses = ['moderator', 'alice', 'guest'].map(async (user) => (await copy(withFiles, 10001, user)).status);
    expect(await Promise.all(statuses)).toEqual([200, 403, 403]);
    expect((await copy(withFiles, 10001, 'guest')).json).toEqual(FORBIDDEN);
    expect((await copy(withFiles, 10001, null)).headers).toHaveProperty('www-authenticate');
  });

  it.each([
    ['x', '10001', 400],
    [999_999, '10001', 404],
  ])('responds to node %s and issue %s with %i', async (nodeId, issueId, status) => {
    expect((await copy(nodeId, issueId)).status).toBe(status);
  });

  it('responds with 404 to an unknown issue, and with 400 to an invalid issue id', async () => {
    expect((await copy(withFiles, 10099)).status).toBe(404);
    expect((await copy(without, 10099)).status).toBe(404);
    expect((await copy(withFiles, 'QA-99')).status).toBe(404);
    for (const invalid of ['QA%201', '-1', 'x'.repeat(101)]) expect((await copy(withFiles, invalid)).status).toBe(400);
  });

  it('accepts the key of an issue in place of its id', async () => {
    const { status, items } = await copy(withFiles, 'QA-1');
    expect([status, items.length]).toEqual([200, (await copy(withFiles, '10001')).items.length]);
    expect((await copy(without, 'QA-1')).json).toEqual([]);
  });

  it('returns the issue from the ticket lookups', async () => {
    const byNode = (await call(`/issuetracker/node/${withFiles}/ticket.json`)).json;
    expect(byNode).toMatchObject({ id: textLike(/^1000[1-4]$/), issueId: byNode.id, key: textLike(/^QA-[1-4]$/) });
    expect((await call(`/issuetracker/key/${byNode.key}/ticket.json`)).json).toEqual(byNode);
    expect((await call('/issuetracker/key/NOPE-1/ticket.json')).status).toBe(404);
  });
});

describe('an external issue tracker', () => {
  let gone: ReferenceServer | undefined;
  afterAll(() => gone?.close());

  it('receives the files, and causes a 500 in JSON when it is unavailable', async () => {
    const elsewhere = await startReferenceServer({ issueTrackerUrl: `${server().trackerUrl}/` });
    expect(elsewhere.trackerUrl).toBe(server().trackerUrl);
    const path = `/services/v2/issuetracker/node/${withFiles}/issue/10001/attachments.json`;
    expect((await clientOf(elsewhere.url)(path, { method: 'POST' })).items[0].content).toContain(server().trackerUrl);
    await elsewhere.close();
    gone = await startReferenceServer({ issueTrackerUrl: 'http://127.0.0.1:1' });
    const response = await clientOf(gone.url)(path, { method: 'POST' });
    expect([response.status, response.json]).toEqual([500, { error: anyText }]);
  });
});
