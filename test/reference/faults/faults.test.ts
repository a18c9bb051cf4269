import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { clientOf } from '../reference-client.ts';
import { withReferenceServer } from '../with-reference-server.ts';
import { anyText, textLike } from '../matchers.ts';

const { call, server } = withReferenceServer();
const list = '/question.json?pageSize=3';

afterEach(() => server().setFaults([]));

const hits = async (seed: number): Promise<string> => {
  const other = await startReferenceServer({ seed, faults: ['500@space%40'] });
  const outcomes: number[] = [];
  for (let turn = 0; turn < 40; turn++) outcomes.push((await clientOf(other.url)('/services/v2/space.json')).status);
  await other.close();
  return outcomes.map((status) => (status === 500 ? 'x' : '.')).join('');
};

/** In which way a list of questions drifts. */
function kindOf(body: unknown): string {
  if (Array.isArray(body)) return 'envelope';
  const [first] = (body as { list: Record<string, unknown>[] }).list;
  if (first === undefined || !('id' in first)) return 'missing';
  return 'unexpectedField' in first ? 'extra' : typeof first['id'] === 'number' ? 'none' : 'type';
}

async function kindsOfDrift(): Promise<string[]> {
  server().setFaults(['drift']);
  const seen: string[] = [];
  for (let turn = 0; turn < 30; turn++) seen.push(kindOf((await call(list)).json));
  return seen;
}

describe('faults', () => {
  it('answers as if nothing were wrong without a fault', async () => {
    expect((await call(list)).status).toBe(200);
  });

  it('answers 500 with the asked message', async () => {
    server().setFaults(['500:too many cooks']);
    const answer = await call(list);
    expect([answer.status, answer.json]).toEqual([500, { error: 'too many cooks' }]);
  });

  it('resets the connection', async () => {
    server().setFaults(['reset']);
    await expect(call(list)).rejects.toThrow(/ECONNRESET|socket hang up/);
  });

  it('promises the whole length and cuts the body', async () => {
    const whole = await call(list);
    server().setFaults(['truncated:100']);
    const cut = await call(list);
    expect(cut.headers['content-length']).toBe(whole.headers['content-length']);
    expect([cut.complete, cut.text]).toEqual([false, whole.text.slice(0, 100)]);
  });

  it('cuts every body short of its end, however many bytes are asked for', async () => {
    server().setFaults(['truncated:999999999']);
    expect((await call('/jobs/gdpr/abc.json')).complete).toBe(false);
  });

  it('sends JSON that does not parse, of the promised length', async () => {
    server().setFaults(['malformed']);
    const answer = await call(list);
    expect([answer.status, answer.complete, answer.json]).toEqual([200, true, undefined]);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  });

  it('sends an HTML page with 401, or with the asked status', async () => {
    server().setFaults(['html']);
    const answer = await call(list);
    expect([answer.status, answer.headers['content-type']]).toEqual([401, textLike(/^text\/html/)]);
    server().setFaults(['html:200']);
    expect((await call(list)).status).toBe(200);
  });

  it('sends the right body under a wrong type', async () => {
    server().setFaults(['content-type:text/csv']);
    const answer = await call(list);
    expect([answer.headers['content-type'], answer.json.listCount]).toEqual(['text/csv', 3]);
  });

  it('leaves a field of the first item out', async () => {
    server().setFaults(['missing-field:title']);
    const [first, second] = (await call(list)).json.list;
    expect(['title' in first, 'title' in second]).toEqual([false, true]);
  });

  it('gives a field of the first item another type', async () => {
    server().setFaults(['wrong-type']);
    const [first, second] = (await call(list)).json.list;
    expect([Number.isInteger(first.id), Number.isInteger(second.id)]).toEqual([false, true]);
    const [idea] = (await call('/idea.json?pageSize=1')).json.list;
    expect(typeof idea.id).not.toBe('string');
  });

  it('adds a field to the first item', async () => {
    server().setFaults(['extra-field']);
    expect((await call('/action.json')).json.actions[0]).toHaveProperty('unexpectedField');
  });

  it.each(['missing-field', 'wrong-type', 'extra-field'])(
    '%s leaves a page without items alone, so that one fault is one difference',
    async (fault) => {
      const beyond = '/question.json?page=9999';
      server().setFaults([]);
      const sound = (await call(beyond)).json;
      expect(sound.list).toEqual([]);
      server().setFaults([fault]);
      expect((await call(beyond)).json).toEqual(sound);
    },
  );

  it('gives no type to a field that a projection left out', async () => {
    server().setFaults(['wrong-type:topics']);
    expect((await call('/idea.json?includeOnly=id')).json.list[0]).not.toHaveProperty('topics');
  });

  it('takes the envelope away, or puts one where none belongs', async () => {
    server().setFaults(['wrong-envelope']);
    expect((await call(list)).json).toHaveLength(3);
    const [question] = (await call(list)).items;
    expect((await call(`/node/${question.id}/comment.json`)).json).toHaveProperty('list');
  });

  it('lets each answer drift in one of four ways, the same ones for the same seed', async () => {
    const seen = await kindsOfDrift();
    expect(new Set(seen)).toEqual(new Set(['missing', 'type', 'extra', 'envelope']));
    expect(await kindsOfDrift()).toEqual(seen);
  });

  it('answers 200 with an error inside, in both shapes', async () => {
    server().setFaults(['error-in-200']);
    expect((await call(list)).json).toEqual({ error: anyText });
    server().setFaults(['error-in-200:permission']);
    const answer = await call(list);
    expect([answer.status, answer.json.errors.message]).toEqual([200, textLike(/<br>/)]);
  });

  it('does not run an operation whose answer is replaced', async () => {
    const wiki = (await call('/question.json?pageSize=500')).json.list.find((question) => question.wiki);
    server().setFaults(['500@12']);
    await call(`/node/${wiki.id}/cancelwiki.json`, { method: 'PUT' });
    server().setFaults([]);
    expect((await call(`/question/${wiki.id}.json`)).json.wiki).toBe(true);
  });

  it('hits only the operation or the path that it names', async () => {
    server().setFaults(['500@8', 'html@article\\.json']);
    const statuses = await Promise.all(['/question.json', '/idea.json', '/article.json'].map((path) => call(path)));
    expect(statuses.map(({ status }) => status)).toEqual([200, 500, 401]);
  });

  it('hits the named share of requests, the same ones for the same seed', async () => {
    const first = await hits(5);
    expect(await hits(5)).toBe(first);
    expect(await hits(6)).not.toBe(first);
    expect(first).toMatch(/x/);
    expect(first).toMatch(/\./);
  });

  it('lets a slow answer end when the client leaves, and when the server closes', async () => {
    const slow = await startReferenceServer({ faults: ['slow:600000'] });
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

  it('starts with no server when a fault cannot be read, and keeps its faults when new ones cannot', async () => {
    await expect(startReferenceServer({ faults: ['nope', 'slow:x'] })).rejects.toThrow(/nope[^]*slow/);
    server().setFaults(['500']);
    expect(() => server().setFaults(['nope'])).toThrow(/nope/);
    expect((await call(list)).status).toBe(500);
  });
});
