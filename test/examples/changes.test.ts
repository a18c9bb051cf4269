import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../src/engine/config/load-settings.ts';
import { PORTICO } from '../../src/portico-settings.ts';
import { startReferenceServer } from '../../src/reference/start-reference-server.ts';
import { readKeys, webhookMessage } from '../../src/features/changes/webhook-message.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { eventually } from '../builders/until.ts';

const examples = join(import.meta.dirname, '..', '..', 'docs', 'examples', 'changes');
const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A running program, and what it has printed. */
interface Running {
  readonly output: () => string;
  readonly errors: () => string;
  end(): Promise<void>;
}

function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>, cwd: string): Running {
  // A shell script is ended together with the programs that it has started.
  const child: ChildProcess = spawn(command, args, { cwd, detached: true, env: { ...process.env, ...env } });
  const text = { output: '', errors: '' };
  child.stdout?.on('data', (part: Buffer) => (text.output += part.toString()));
  child.stderr?.on('data', (part: Buffer) => (text.errors += part.toString()));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
    await ended;
  };
  cleanUpAfterFile(end);
  return { output: () => text.output, errors: () => text.errors, end };
}

it('the configuration of the guide is valid', () => {
  const guide = readFileSync(join(examples, '..', '..', 'changes.md'), 'utf8');
  const [, yaml = ''] = /<<'EOF'\n([^]*?)EOF\n/.exec(guide) ?? [];
  const cwd = tempFolder();
  symlinkSync(join(examples, '..', '..', '..', 'config'), join(cwd, 'config'));
  writeFileSync(join(cwd, 'portico.yaml'), yaml);
  const { settings, faults } = readSettings({ env: { PORTICO_CONFIG: 'portico.yaml' }, cwd }, PORTICO);
  expect(faults).toEqual([]);
  expect(settings.roles.file).toBe(join(cwd, 'config', 'roles.yaml'));
});

needsProgram('curl', 'the examples of the change feed', () => {
  let gateway: TestGateway;
  let relay: Running;
  let relayUrl: string;
  const folder = tempFolder();
  const events = async () =>
    (await gateway.metric('portico_changes_events_total{list="listQuestions",change="changed"}')) +
    (await gateway.metric('portico_changes_events_total{list="listQuestions",change="answered"}'));

  /** Makes something happen as the guide does. Returns the title of the question. */
  async function comment(): Promise<string> {
    const before = await events();
    const [question] = (await gateway.call('/services/v2/question.json?pageSize=1', { user: 'alice' })).json.list;
    const { status } = await gateway.call(`/services/v2/node/${question.id}/comment.json`, {
      user: 'alice',
      method: 'POST',
      body: { body: 'Hello' },
    });
    expect(status).toBeLessThan(300);
    await eventually(async () => (await events()) > before);
    return question.title;
  }

  beforeAll(async () => {
    const secrets = join(folder, 'secrets');
    mkdirSync(secrets);
    writeFileSync(join(secrets, 'relay.key'), `${KEY}\n`, { mode: 0o600 });
    writeFileSync(join(folder, 'password'), 'alice\n', { mode: 0o600 });
    relay = run(process.execPath, [join(examples, 'relay.ts')], { KEY_FILE: 'secrets/relay.key', PORT: '0' }, folder);
    await eventually(() => /port \d+/.test(relay.errors()));
    relayUrl = `http://127.0.0.1:${/port (\d+)/.exec(relay.errors())?.[1]}/`;
    const reference = await startReferenceServer();
    cleanUpAfterFile(() => reference.close());
    gateway = await startTestGateway({
      upstream: reference,
      config: {
        changes: {
          username: 'alice',
          passwordFile: join(folder, 'password'),
          folder: ':memory:',
          everySeconds: 1,
          requestsPerMinute: 600,
          secrets,
          allowPrivate: ['127.0.0.1'],
          webhooks: [{ name: 'relay', url: relayUrl, account: 'alice', kinds: ['question'] }],
        },
      },
    });
    const read = 'portico_changes_readings_total{list="listQuestions",outcome="complete"}';
    await eventually(async () => (await gateway.metric(read)) > 0);
    await eventually(async () => (await gateway.metric('portico_changes_backlog{webhook="relay"}')) === 0);
  });

  needsProgram('jq', 'the shell script', () => {
    const start = (cwd: string, credential = 'alice:alice') =>
      run('sh', [join(examples, 'news.sh'), gateway.url], { CREDENTIAL: credential }, cwd);

    it('prints what happens, and continues where it was when it is started again', async () => {
      const cwd = tempFolder();
      const first = start(cwd);
      await eventually(async () => (await gateway.metric('portico_changes_subscribers')) === 1);
      const title = await comment();
      await eventually(() => first.output() !== '');
      expect(first.output()).toBe(`question.changed: ${title}\n`);
      await first.end();
      await comment();
      const second = start(cwd);
      await eventually(() => second.output() !== '');
      expect(second.output()).toBe(`question.changed: ${title}\n`);
      await second.end();
    });

    it.each([
      [{ CREDENTIAL: '' }, 'http://127.0.0.1:1', 'CREDENTIAL: must be name:password'],
      [{ CREDENTIAL: 'alice:alice' }, '', 'must be the address of the gateway'],
    ])('says what is missing: %j %s', async (env, address, message) => {
      const wrong = run('sh', [join(examples, 'news.sh'), address], env, tempFolder());
      await eventually(() => wrong.errors() !== '');
      expect(wrong.errors()).toContain(message);
    });

    it('says why it may not read', async () => {
      const wrong = start(tempFolder(), 'alice:wrong');
      await eventually(() => wrong.errors() !== '');
      expect(wrong.errors()).toContain('"status":401');
      expect(wrong.output()).toBe('');
    });
  });

  describe('the relay', () => {
    const event = {
      number: 7,
      at: 0,
      source: 'listQuestions',
      kind: 'question.created',
      target: { type: 'question', id: '12' },
      title: undefined,
      data: '{"id":12}',
    };
    const send = async (key: string, now: number) => {
      const keys = readKeys(key) ?? [];
      const { headers, body } = webhookMessage(event, { format: 'standard', keys, lineage: '0badcafe', now });
      return (await fetch(relayUrl, { method: 'POST', headers, body })).status;
    };

    it('writes a line about each event', async () => {
      const before = relay.output();
      const title = await comment();
      await eventually(() => relay.output() !== before);
      expect(relay.output().slice(before.length)).toBe(`question.changed: ${title}\n`);
    });

    it('accepts only messages that are signed with its key and new, and writes each only once', async () => {
      const before = relay.output();
      expect(await send(`whsec_${Buffer.alloc(32, 8).toString('base64')}`, Date.now())).toBe(401);
      expect(await send(KEY, Date.now() - 600_000)).toBe(401);
      expect(await send(KEY, Date.now())).toBe(204);
      expect(await send(KEY, Date.now())).toBe(204);
      await eventually(() => relay.output() !== before);
      expect(relay.output().slice(before.length)).toBe('question.created: 12\n');
    });
  });
});
