import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { parse } from 'yaml';
import { afterAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/run-program.ts';
import { startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { callAt } from '../../builders/call.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { contractWith } from '../../learner/learned.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-learn-'));
afterAll(() => rmSync(folder, { recursive: true }));

const reference = await startReferenceServer();
afterAll(() => reference.close());

async function learn(
  args: readonly string[],
  stdin = '',
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; out: string; err: string }> {
  const text = { out: '', err: '' };
  const code = await runProgram(PROGRAM, ['learn', ...args], {
    out: (line) => void (text.out += `${line}\n`),
    err: (line) => void (text.err += `${line}\n`),
    stdin: Readable.from([stdin]),
    env,
    cwd: folder,
  });
  return { code, ...text };
}

const listed = (body: unknown) => (body as { list: Record<string, string>[] }).list;

interface Overlay {
  readonly overlay: string;
  readonly actions: readonly {
    readonly target: string;
    /** The update made by the action. Undefined if the action removes its target. */
    readonly update?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly 'x-evidence': Readonly<Record<string, unknown>>;
  }[];
}

describe('portico learn --against the reference server', async () => {
  const file = join(folder, 'learned.yaml');
  const ran = await learn(
    ['--against', reference.url, '--user', 'admin', '--output', file, '--delay', '0', '--probe-page-size'],
    'admin\n',
  );
  const text = readFileSync(file, 'utf8');
  const { overlay, actions } = parse(text) as Overlay;
  const component = (name: string) => actions.find(({ update }) => update?.[name] !== undefined)?.update?.[name];
  const at = (target: string) => actions.filter((action) => action.target === target).map(({ update }) => update);

  it('writes an overlay that the contract accepts, with evidence for each action', () => {
    expect({ code: ran.code, overlay }).toEqual({ code: 0, overlay: '1.0.0' });
    expect(contractWith(text).warnings).toEqual([]);
    const members = ['statement', 'confidence', 'belief', 'seen', 'answers', 'firstSeen', 'lastSeen'];
    for (const action of actions) expect(Object.keys(action['x-evidence'])).toEqual(expect.arrayContaining(members));
  });

  // In YAML 1.2, the dates in the evidence do not need quotes, but YAML 1.1 readers turn unquoted dates into date
  // objects.
  it('writes an overlay that YAML 1.1 readers read in the same way', () => {
    expect(parse(text, { version: '1.1' })).toEqual(parse(text));
  });

  it('proposes the exact shape of attachments', () => {
    expect(component('NodeAttachment')).toEqual({
      description: 'The sampled values of Node.attachments[].',
      'x-provenance': 'observed',
      type: 'object',
      'x-expected': ['creationDate', 'creationDateFormatted', 'id', 'mimeType', 'name', 'size', 'url'],
      properties: {
        id: { type: 'integer', format: 'int64' },
        name: { type: 'string' },
        size: { type: 'integer' },
        mimeType: { type: 'string' },
        creationDate: { type: 'integer', format: 'int64', description: 'Milliseconds since the Unix epoch.' },
        creationDateFormatted: {
          type: 'string',
          'x-expected-pattern': String.raw`^\d{2}\/\d{2}\/\d{4} \d{2}:\d{2} (AM|PM)$`,
        },
        url: { type: 'string' },
      },
    });
    expect(at('$.components.schemas.Node.properties.attachments.items')).toEqual([
      { $ref: '#/components/schemas/NodeAttachment' },
    ]);
  });

  it('proposes the exact shape of follow relations, and marks personal fields', () => {
    const relation = component('FollowRelation') as unknown as
      | {
          'x-expected': string[];
          properties: Record<string, { type: string; 'x-expected': string[]; properties: Record<string, object> }>;
        }
      | undefined;
    const names = ['active', 'creationDate', 'creationDateFormatted', 'followed', 'follower', 'id', 'type'];
    expect(relation).toMatchObject({ type: 'object', 'x-expected': names });
    for (const keyword of ['required', 'x-expected-type']) expect(relation).not.toHaveProperty(keyword);
    expect(Object.keys(relation?.properties ?? {}).toSorted()).toEqual(names);
    expect(relation?.properties['followed']).toEqual({
      // There are too few distinct nodes with followers to conclude that the fields of a followed node are expected.
      type: 'object',
      properties: { id: { type: 'integer', format: 'int64' }, type: { type: 'string' } },
    });
    const follower = relation?.properties['follower'];
    expect(Object.keys(follower?.properties ?? {})).toHaveLength(23);
    expect(follower?.properties).toMatchObject({
      username: { type: 'string', 'x-pii': 'username' },
      slug: { 'x-pii': 'username' },
      realname: { 'x-pii': 'real-name' },
      avatar: { 'x-pii': 'picture' },
      superuser: { type: 'boolean' },
    });
    expect(follower?.['x-expected']).toContain('username');
    expect(follower?.['x-expected']).not.toContain('realname');
  });

  it('proposes the ticket lookups as operations with their shape', () => {
    const paths = at('$.paths').flatMap((update) => Object.keys(update ?? {}));
    expect(paths).toEqual([
      '/services/v2/issuetracker/node/{nodeId}/ticket.json',
      '/services/v2/issuetracker/key/{key}/ticket.json',
    ]);
    const ticket = component('IssuetrackerNodeTicketAnswer');
    expect(ticket?.['properties']).toEqual({
      id: { type: 'string' },
      issueId: { type: 'string' },
      key: { type: 'string' },
      url: { type: 'string', format: 'uri' },
    });
    const contract = contractWith(text);
    expect(contract.match('/services/v2/issuetracker/node/7/ticket.json')?.byMethod.get('GET')?.id).toBe(
      'getIssuetrackerNodeTicket',
    );
  });

  it('reports its progress occasionally', () => {
    expect(ran.err).toMatch(/^50 of at most 300 requests, \w+$/m);
    expect(ran.err).toMatch(/^350 requests, undocumented paths$/m);
  });

  it('reports the maximum and default page size, and that wrap and v1 have no effect', () => {
    expect(ran.out).toContain(
      'listQuestions: 500 is honored; no larger page was requested from a list with enough items',
    );
    expect(ran.out).toContain('listQuestions: 15 items are returned if no page size is requested');
    expect(ran.out).toMatch(/wrap: does not change the shape of \d+ responses/);
    expect(ran.out).toMatch(/v1: does not change the shape of \d+ responses/);
  });

  it('reports the values of enumerations, and paths that it does not write', () => {
    expect(ran.out).toMatch(/Action\.verb: .*accepted/);
    expect(ran.out).toMatch(/ActionNode\.type: was also answer, comment,/);
    // The walk receives the same few nodes many times. That does not prove that there are no other types.
    expect(ran.out).not.toMatch(/Node\.type: is one of/);
    expect(ran.out).toMatch(
      /GET \/services\/v2\/question\/\{id\}\.json: returns 200 \(3\).*\n.*no change to the contract/,
    );
  });

  it('contains no personal data: no names, addresses, titles or texts', async () => {
    const [users, questions] = await Promise.all([
      callAt(reference.url, '/services/v2/user.json?pageSize=500'),
      callAt(reference.url, '/services/v2/question.json?pageSize=100'),
    ]);
    const personal = listed(users.json).flatMap(({ username, realname, avatar }) => [username, realname, avatar]);
    const content = listed(questions.json).flatMap(({ title, slug, body }) => [title, slug, body]);
    const values = [...personal, ...content].filter((value): value is string => (value ?? '').length > 4);
    expect(values.length).toBeGreaterThan(300);
    // Some accounts happen to have the same name as a field in the contract.
    const words = new Set(['moderator', 'superuser']);
    const all = `${text}\n${ran.out}\n${ran.err}`;
    expect(values.filter((value) => !words.has(value) && all.includes(value))).toEqual([]);
  });
});

describe('portico learn', () => {
  it('finds the size to which a server limits pages', async () => {
    const upstream = await startFakeUpstream(({ path, query }) => {
      if (!path.endsWith('/question.json')) return { status: 404, json: { error: 'not found' } };
      const size = Math.min(Number(query.get('pageSize') ?? 15), 50);
      const list = Array.from({ length: size }, (_, id) => ({ id }));
      const counts = { page: 1, pageSize: size, pageCount: 9, listCount: size, totalCount: 2000 };
      return { json: { name: '', sort: '', ...counts, sorts: [], list } };
    });
    const { code, err } = await learn([
      '--against',
      upstream.url,
      '--delay',
      '0',
      '--probe-page-size',
      '--max-requests',
      '5',
    ]);
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringContaining('listQuestions: 50 is the largest page') as string,
    });
  });

  it('finds the size above which pages are refused, and samples smaller pages', async () => {
    const upstream = await startFakeUpstream(({ path, query }) => {
      if (!path.endsWith('/question.json')) return { status: 404, json: { error: 'not found' } };
      const size = Number(query.get('pageSize') ?? 15);
      if (size > 37) return { status: 400, json: { error: 'too large' } };
      const list = Array.from({ length: size }, (_, id) => ({ id, attachments: [{ fileNo: id }] }));
      const counts = { page: 1, pageSize: size, pageCount: 9, listCount: size, totalCount: 2000 };
      return { json: { name: '', sort: '', ...counts, sorts: [], list } };
    });
    const args = ['--against', upstream.url, '--delay', '0', '--probe-page-size', '--max-requests', '1'];
    const { code, err } = await learn(args);
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringContaining('listQuestions: 37 is the largest size that is not refused') as string,
    });
    expect(err).toContain('Node.attachments[]: is object with 1 field (');
  });

  it('proposes ticket lookups that work for few nodes, and finds the keys anywhere in the responses', async () => {
    const keys: string[] = [];
    const upstream = await startFakeUpstream(({ path }) => {
      const [, node] = /node\/(\d+)\/ticket/.exec(path) ?? [];
      const [, key] = /key\/(.*)\/ticket/.exec(path) ?? [];
      if (path.endsWith('/action.json')) return { json: { actions: [], moreResults: 1 } };
      if (key !== undefined) keys.push(key);
      if (key === undefined && (node === undefined || Number(node) % 4 > 0))
        return { status: 404, json: { error: 'no' } };
      return { json: { tickets: [{ issue: `ABC-${node ?? 0}`, summary: 'Jana is ill' }] } };
    });
    const ids = Array.from({ length: 24 }, (_, at) => ['--id', `nodeId=${at + 1}`]).flat();
    const { out, err } = await learn(['--against', upstream.url, '--delay', '0', '--max-requests', '5', ...ids]);
    expect(err).toContain('GET /services/v2/issuetracker/node/{id}/ticket.json: returns 404 (18), 200 (6)');
    expect(keys).toEqual(['ABC-4', 'ABC-8', 'ABC-12', 'ABC-16', 'ABC-20', 'ABC-24']);
    expect(out).toContain('/services/v2/issuetracker/key/{key}/ticket.json');
    expect(out + err).not.toMatch(/ABC-|Jana/);
  });

  it('exits with 1 without observations, and suggests what to do', async () => {
    expect(await learn([])).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining('Set learn.traffic: true and wait for traffic, or use --against URL') as string,
    });
  });

  it('reads the password from PORTICO_PASSWORD, and rejects a user without one', async () => {
    const args = ['--against', reference.url, '--user', 'admin', '--delay', '0', '--max-requests', '1'];
    const { code, out } = await learn(args, '', { PORTICO_PASSWORD: 'admin' });
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('overlay: 1.0.0') as string });
    expect(await learn(args)).toMatchObject({
      code: 2,
      err: expect.stringContaining('no password for admin') as string,
    });
  });

  it('exits with 1 if the server does not respond', async () => {
    const { code, err } = await learn(['--against', 'http://127.0.0.1:9', '--delay', '0']);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('does not respond') as string });
    expect(err).not.toContain('    at ');
  });

  it('exits with 1 if access is denied, and reports it in one line', async () => {
    const { code, err } = await learn(['--against', reference.url, '--user', 'admin', '--delay', '0'], 'wrong');
    expect({ code, err: err.trimEnd().split('\n').at(-1) }).toEqual({
      code: 1,
      err: `portico: ${reference.url} responded with 401 to all requests: the name or the password is wrong.`,
    });
  });

  it('requests the given ids, and lists the operations without a response', async () => {
    const requested: string[] = [];
    const upstream = await startFakeUpstream(({ path }) => {
      requested.push(path);
      // One request succeeds. If every request failed, the command would report that the URL is wrong.
      return path.startsWith('/services/v2/idea.json')
        ? { status: 200, json: { list: [] } }
        : { status: 404, json: { error: 'not found' } };
    });
    const args = ['--against', upstream.url, '--delay', '0', '--id', 'jobId=12', '--id', 'questionId=9007199254740993'];
    expect((await learn(args)).code).toBe(2);
    const { err } = await learn([...args.slice(0, 6), '--id', 'nodeId=9007199254740993']);
    expect(requested).toContain('/services/v2/jobs/gdpr/12.json');
    expect(requested).toContain('/services/v2/issuetracker/node/9007199254740993/ticket.json');
    expect(err).toContain('not walked: listGroupUsers; no id is known: add --id groupId=…');
  });

  it.each([
    [['--min-confidence', '2'], '--min-confidence must be a number from 0 to 1'],
    [['--min-answers', '1'], '--min-answers must be a whole number from 3'],
    [['--user', 'x'], '--user requires --against'],
    [['--id', 'jobId=1'], '--id requires --against'],
    [['--against', 'http://127.0.0.1:9', '--id', 'bob=1'], 'unknown path parameter "bob"; the walk uses jobId,'],
    [['--against', 'http://127.0.0.1:9', '--id', 'jobId'], 'must be NAME=ID, for example jobId=12'],
    [['--against', 'http://127.0.0.1:9', '--user', 'x:y'], '--user must be a user name without a colon'],
  ])('exits with 2 for a usage error: %j', async (args, message) => {
    const { code, err } = await learn(args);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) as string });
  });

  it('does not write an overlay without proposals', async () => {
    writeFileSync(
      join(folder, 'little.json'),
      JSON.stringify({ portico: 'observations', version: 1, sinceAt: 1, untilAt: 2, answers: 1 }),
    );
    const { code, out, err } = await learn(['--observations', 'little.json']);
    expect({ code, out, err }).toEqual({
      code: 0,
      out: '',
      err: 'There is nothing to propose. Sampled responses: 1.\n',
    });
  });
});
