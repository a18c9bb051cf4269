import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { clientOf } from '../reference-client.ts';
import { withReferenceServer } from '../with-reference-server.ts';
import { anyText, textLike } from '../matchers.ts';

const { call, server } = withReferenceServer();
const list = '/question.json?pageSize=3';

afterEach(() => server().setChaos([]));

const affectedRequests = async (seed: number): Promise<string> => {
  const other = await startReferenceServer({ seed, chaos: ['500@space%40'] });
  const outcomes: number[] = [];
  for (let turn = 0; turn < 40; turn++) outcomes.push((await clientOf(other.url)('/services/v2/space.json')).status);
  await other.close();
  return outcomes.map((status) => (status === 500 ? 'x' : '.')).join('');
};

/** Returns the kind of drift in a list of questions. */
function kindOf(body: unknown): string {
  if (Array.isArray(body)) return 'envelope';
  const [first] = (body as { list: Record<string, unknown>[] }).list;
  if (first === undefined || !('id' in first)) return 'missing';
  return 'unexpectedField' in first ? 'extra' : typeof first['id'] === 'number' ? 'none' : 'type';
}

async function kindsOfDrift(): Promise<string[]> {
  server().setChaos(['drift']);
  const seen: string[] = [];
  for (let turn = 0; turn < 30; turn++) seen.push(kindOf((await call(list)).json));
  return seen;
}

describe('chaos', () => {
  it('does not change responses without a rule', async () => {
    expect((await call(list)).status).toBe(200);
  });

  it('responds with 500 and the configured message', async () => {
    server().setChaos(['500:too many cooks']);
    const response = await call(list);
    expect([response.status, response.json]).toEqual([500, { error: 'too many cooks' }]);
  });

  it('resets the connection', async () => {
    server().setChaos(['reset']);
    await expect(call(list)).rejects.toThrow(/ECONNRESET|socket hang up/);
  });

  it('declares the full length and truncates the body', async () => {
    const whole = await call(list);
    server().setChaos(['truncated:100']);
    const cut = await call(list);
    expect(cut.headers['content-length']).toBe(whole.headers['content-length']);
    expect([cut.complete, cut.text]).toEqual([false, whole.text.slice(0, 100)]);
  });

  it('truncates a body that is shorter than the configured number of bytes', async () => {
    server().setChaos(['truncated:999999999']);
    expect((await call('/jobs/gdpr/abc.json')).complete).toBe(false);
  });

  it('sends JSON that cannot be parsed, with the declared length', async () => {
    server().setChaos(['malformed']);
    const response = await call(list);
    expect([response.status, response.complete, response.json]).toEqual([200, true, undefined]);
    expect(response.headers['content-type']).toMatch(/^application\/json/);
  });

  it('sends an HTML page with 401, or with the configured status', async () => {
    server().setChaos(['html']);
    const response = await call(list);
    expect([response.status, response.headers['content-type']]).toEqual([401, textLike(/^text\/html/)]);
    server().setChaos(['html:200']);
    expect((await call(list)).status).toBe(200);
  });

  it('sends the correct body with the wrong type', async () => {
    server().setChaos(['content-type:text/csv']);
    const response = await call(list);
    expect([response.headers['content-type'], response.json.listCount]).toEqual(['text/csv', 3]);
  });

  it('omits a field of the first item', async () => {
    server().setChaos(['missing-field:title']);
    const [first, second] = (await call(list)).json.list;
    expect(['title' in first, 'title' in second]).toEqual([false, true]);
  });

  it('changes the type of a field of the first item', async () => {
    server().setChaos(['wrong-type']);
    const [first, second] = (await call(list)).json.list;
    expect([Number.isInteger(first.id), Number.isInteger(second.id)]).toEqual([false, true]);
    const [idea] = (await call('/idea.json?pageSize=1')).json.list;
    expect(typeof idea.id).not.toBe('string');
  });

  it('adds a field to the first item', async () => {
    server().setChaos(['extra-field']);
    expect((await call('/action.json')).json.actions[0]).toHaveProperty('unexpectedField');
  });

  it.each(['missing-field', 'wrong-type', 'extra-field'])(
    '%s does not change a page without items, so that one rule makes at most one difference',
    async (rule) => {
      const beyond = '/question.json?page=9999';
      server().setChaos([]);
      const unchanged = (await call(beyond)).json;
      expect(unchanged.list).toEqual([]);
      server().setChaos([rule]);
      expect((await call(beyond)).json).toEqual(unchanged);
    },
  );

  it('does not change the type of a field that a projection removed', async () => {
    server().setChaos(['wrong-type:topics']);
    expect((await call('/idea.json?includeOnly=id')).json.list[0]).not.toHaveProperty('topics');
  });

  it('removes the envelope of a list, and wraps a bare array', async () => {
    server().setChaos(['wrong-envelope']);
    expect((await call(list)).json).toHaveLength(3);
    const [question] = (await call(list)).items;
    expect((await call(`/node/${question.id}/comment.json`)).json).toHaveProperty('list');
  });

  it('picks one of four kinds of drift per response, in the same order for the same seed', async () => {
    const seen = await kindsOfDrift();
    expect(new Set(seen)).toEqual(new Set(['missing', 'type', 'extra', 'envelope']));
    expect(await kindsOfDrift()).toEqual(seen);
  });

  it('responds with 200 and an error in the body, in both shapes', async () => {
    server().setChaos(['error-in-200']);
    expect((await call(list)).json).toEqual({ error: anyText });
    server().setChaos(['error-in-200:permission']);
    const response = await call(list);
    expect([response.status, response.json.errors.message]).toEqual([200, textLike(/<br>/)]);
  });

  it('does not run an operation whose response it replaces', async () => {
    const wiki = (await call('/question.json?pageSize=500')).json.list.find((question) => question.wiki);
    server().setChaos(['500@12']);
    await call(`/node/${wiki.id}/cancelwiki.json`, { method: 'PUT' });
    server().setChaos([]);
    expect((await call(`/question/${wiki.id}.json`)).json.wiki).toBe(true);
  });

  it('affects only the operation or path of the rule', async () => {
    server().setChaos(['500@8', 'html@article\\.json']);
    const statuses = await Promise.all(['/question.json', '/idea.json', '/article.json'].map((path) => call(path)));
    expect(statuses.map(({ status }) => status)).toEqual([200, 500, 401]);
  });

  it('affects the configured share of requests, the same ones for the same seed', async () => {
    const first = await affectedRequests(5);
    expect(await affectedRequests(5)).toBe(first);
    expect(await affectedRequests(6)).not.toBe(first);
    expect(first).toMatch(/x/);
    expect(first).toMatch(/\./);
  });

  it('ends a slow response when the client disconnects or the server closes', async () => {
    const slow = await startReferenceServer({ chaos: ['slow:600000'] });
    const { hostname, port } = new URL(slow.url);
    const leaving = connect(Number(port), hostname);
    leaving.write('GET /services/v2/space.json HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(leaving, 'connect');
    leaving.destroy();
    const staying = clientOf(slow.url)('/services/v2/space.json');
    const outcome = expect(staying).rejects.toThrow(/ECONNRESET|socket hang up/);
    await clientOf(slow.trackerUrl)('/rest/api/2/issue/10001');
    await slow.close();
    await outcome;
  });

  it('does not start with an invalid rule, and keeps its rules when new ones are invalid', async () => {
    await expect(startReferenceServer({ chaos: ['nope', 'slow:x'] })).rejects.toThrow(/nope[^]*slow/);
    server().setChaos(['500']);
    expect(() => server().setChaos(['nope'])).toThrow(/nope/);
    expect((await call(list)).status).toBe(500);
  });
});
