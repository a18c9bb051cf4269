import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { eventually, until } from '../builders/until.ts';
import { createFakeLists } from '../features/changes/fake-lists.ts';
import { openStream } from '../features/changes/open-stream.ts';
import { startTokenGateway } from '../features/tokens/token-gateway.ts';

const EVENTS = '/services/v2/changes/events';
const RECHECK_SECONDS = 30;

/** Starts a gateway with tokens and the change feed, and a function that makes the feed read its lists once more. */
async function start() {
  const folder = tempFolder();
  writeFileSync(join(folder, 'password'), 'admin\n', { mode: 0o600 });
  const lists = createFakeLists();
  const at = await startTokenGateway({
    folder,
    upstream: await startFakeUpstream(lists.handler),
    config: {
      changes: {
        username: 'admin',
        passwordFile: join(folder, 'password'),
        folder: join(folder, 'changes'),
        lists: ['listQuestions', 'listIdeas'],
        requestsPerMinute: 6_000,
        recheckSeconds: RECHECK_SECONDS,
      },
    },
  });
  const readings = async (list: string) =>
    at.gateway.metric(`portico_changes_readings_total{list="${list}",outcome="complete"}`);
  const readEachList = async () => {
    const before = [await readings('listQuestions'), await readings('listIdeas')];
    await eventually(async () => {
      at.clock.advance(5);
      const after = [await readings('listQuestions'), await readings('listIdeas')];
      return after.every((count, index) => count > (before[index] ?? 0));
    });
  };
  const open = (token: string) =>
    openStream(at.gateway.url, EVENTS, { user: null, headers: { Authorization: `Bearer ${token}` } });
  return { at, lists, readEachList, open };
}

it('an event stream of a token contains only what its scope allows', async () => {
  const { at, lists, readEachList, open } = await start();
  await readEachList();
  const { token } = await at.create();
  const stream = await open(token);
  expect(stream.status).toBe(200);
  // The account may see ideas, but the token does not.
  lists.add('ideas', 20);
  lists.add('questions', 21);
  await readEachList();
  await stream.received(1);
  await readEachList();
  expect(stream.messages.map(({ event }) => event)).toEqual(['question.created']);
  const none = await at.create({ scope: ['View the question page'] });
  const refused = await at.ask(`Bearer ${none.token}`, EVENTS);
  expect([refused.status, refused.reply.headers['www-authenticate']]).toEqual([
    403,
    'Bearer realm="Portico", error="insufficient_scope"',
  ]);
});

it('an event stream ends when its token is revoked: before the next event, or when its caller is checked again', async () => {
  const { at, lists, readEachList, open } = await start();
  await readEachList();
  const [busy, quiet] = [await at.create(), await at.create()];
  const [first, second] = [await open(busy.token), await open(quiet.token)];
  await at.change('/revoke', { id: busy.id });
  lists.add('questions', 22);
  await readEachList();
  await until(first.isEnded);
  expect(first.messages).toEqual([]);
  expect(first.text()).toContain('{"reason":"revoked"}');
  await second.received(1);
  await at.change('/revoke', { id: quiet.id });
  at.clock.advance(RECHECK_SECONDS + 1);
  await until(second.isEnded);
  expect(second.text()).toContain('{"reason":"revoked"}');
  expect((await at.ask(`Bearer ${quiet.token}`, EVENTS)).status).toBe(401);
});

it('an event stream ends when its token does', async () => {
  const { at, readEachList, open } = await start();
  await readEachList();
  const { token } = await at.create({ expiresDays: 1 });
  const stream = await open(token);
  at.clock.advance(86_400);
  await until(stream.isEnded);
  expect(stream.text()).toContain('{"reason":"revoked"}');
});
