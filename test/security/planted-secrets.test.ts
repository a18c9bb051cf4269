import * as fc from 'fast-check';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createContractPlaces } from '../../src/engine/contract/contract-places.ts';
import { CONTRACT_DEFAULTS } from '../../src/portico-settings.ts';
import { loadOperations } from '../../src/engine/contract/load-contract.ts';
import { LEDGER_DEFAULTS } from '../builders/ledger.ts';
import { ledgerAt } from '../../src/features/ledger/store/select-store.ts';
import { compareReports } from '../../src/workbench/report/comparison.ts';
import { REPORT_FORMATS } from '../../src/workbench/report/formats.ts';
import { findingsOf, type RenderOptions, type Report, toReport } from '../../src/workbench/report/report.ts';
import { basic, type ClientResponse, type Call } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { fastRoles } from '../builders/fast-roles.ts';
import { OPERATIONS, type OperationCase, targetOf } from '../builders/operations.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../builders/otlp-receiver.ts';
import { anyOddSecrets, oddResponses, oddForms, oddRequests, type OddSecrets } from '../builders/odd-secrets.ts';
import {
  anySecrets,
  findSecrets,
  findTexts,
  secretResponses,
  secretBodies,
  secretHeaders,
  secretQueries,
  type Secrets,
  secretTargets,
} from '../builders/planted-secrets.ts';
import { isLongRun, propertyRuns } from '../builders/property-runs.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { sendRaw } from '../engine/upstream/support/raw-client.ts';

/*
 * The attack: someone who reads the ledger, its file, the log, the metrics, the exported spans, the console, a report
 * or one of the gateway's error pages collects other people's passwords, tokens, names and addresses. The test puts
 * random secrets into every place where a client or the upstream can send text, and then searches for them everywhere
 * that other people can read.
 */

interface Place {
  readonly mode: string;
  readonly gateway: TestGateway;
  readonly file: string;
  /** The number of log lines that have already been searched. */
  searched: number;
}

const MODES = ['strict', 'staging', 'observe'] as const;
/** Statuses whose message comes from the upstream and is forwarded word for word (docs/rules.md §8). */
const WORDED = new Set([400, 401, 403, 404, 409, 422, 429]);
/** The number of runs per place and mode. There are three modes, and each run uses new secrets. */
const RUNS = propertyRuns(1);

/** Configures two files in addition to the ledger, so that they are also searched. */
const keptIn = (folder: string) => ({
  learn: { traffic: true, file: join(folder, 'observations.json') },
  levels: { file: join(folder, 'levels.json') },
});

/** Settings that keep invalid HTTP responses and wrong passwords from blocking later requests. */
const unhindered = {
  upstream: { circuit: { failures: 10_000 } },
  cache: { failures: { after: 0 } },
  authentication: { failures: { limit: 1_000 } },
};

let fake: FakeUpstream;
let receiver: OtlpReceiver;
const places = new Map<string, Place>();
const planted: Secrets[] = [];
const oddlyPlanted: string[] = [];

beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  receiver = await startOtlpReceiver();
  const all = ['standard', 'custom', 'site administration', 'moderation', 'private comments', 'attachments'];
  const roles = await fastRoles([
    { name: 'everything', roles: all, groups: ['Super Users'], flags: ['admin', 'superuser'] },
  ]);
  for (const mode of MODES) {
    const folder = tempFolder();
    const file = join(folder, 'ledger.db');
    const undocumented = { allow: [{ method: '*', path: '/services/v2/**' }] };
    const config = {
      mode,
      undocumented,
      logging: { level: 'trace' },
      ledger: { file },
      tracing: { endpoint: receiver.url, exportSeconds: 0.5 },
      ...unhindered,
      ...keptIn(folder),
    };
    places.set(mode, { mode, file, searched: 0, gateway: await startTestGateway({ upstream: fake, roles, config }) });
  }
});

const placeOf = (mode: string): Place => {
  const place = places.get(mode);
  if (place === undefined) throw new Error(`no gateway in ${mode}`);
  return place;
};

let count = 0;

/** Sends a request with secrets in every header and waits until it is recorded. */
async function send({ gateway }: Place, secrets: Secrets, target: string, call: Call = {}): Promise<ClientResponse> {
  const requestId = `planted-${(count += 1)}`;
  const headers = { ...secretHeaders(secrets), 'X-Request-Id': requestId, ...call.headers };
  const reply = await gateway.call(target, { user: 'everything', ...call, headers });
  await gateway.lineOf(requestId);
  return reply;
}

/** Returns the text of a response from the gateway itself, or an empty string for any other response. */
const ownWords = ({ mode }: Place, { status, text }: ClientResponse, asked: number): string =>
  mode !== 'observe' && status >= 400 && (fake.requests.length === asked || !WORDED.has(status)) ? text : '';

/** Returns everything that others can read about a gateway, except the parts already searched. */
async function readable(place: Place): Promise<string> {
  const { gateway } = place;
  const snapshot = await gateway.gateway.services.records.snapshot();
  const log = gateway.log.slice(place.searched);
  place.searched = gateway.log.length;
  return [JSON.stringify(snapshot), ...log].join('\n');
}

/** Runs an action several times with new secrets. Searches for the secrets after each run and once more at the end. */
async function plant(
  mode: string,
  act: (place: Place, secrets: Secrets, operation: OperationCase) => Promise<string[]>,
) {
  const place = placeOf(mode);
  await fc.assert(
    fc.asyncProperty(anySecrets, fc.constantFrom(...OPERATIONS), async (secrets, operation) => {
      fake.handler = exampleResponse;
      planted.push(secrets);
      const said = await act(place, secrets, operation);
      expect(findSecrets(`${said.join('\n')}\n${await readable(place)}`, secrets)).toEqual([]);
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
}

const secretless = { 'Cache-Control': 'no-cache' };

/** Returns one mode's share of a list, which is divided among the three modes. */
const ownThird = <T>(mode: string, kind: number, all: readonly T[]): T[] =>
  all.filter((_, at) => (at + kind) % MODES.length === MODES.findIndex((one) => one === mode));

/** Does the same as `plant`, but with secrets in unusual forms. */
async function plantOddly(mode: string, act: (place: Place, secrets: OddSecrets) => Promise<string[]>) {
  const place = placeOf(mode);
  const sent = fc.asyncProperty(anyOddSecrets, async (secrets) => {
    fake.handler = exampleResponse;
    const forms = oddForms(secrets);
    oddlyPlanted.push(...forms);
    const said = await act(place, secrets);
    fake.handler = exampleResponse;
    const last = `planted-${(count += 1)}`;
    await place.gateway.call('/services/v2/idea.json', { user: 'everything', headers: { 'X-Request-Id': last } });
    await place.gateway.lineOf(last);
    expect(findTexts([...said, await readable(place)], forms)).toEqual([]);
  });
  await fc.assert(sent, { numRuns: 1, endOnFailure: true });
}

describe.each(MODES)('in %s, secrets', (mode) => {
  it('that clients send in queries and paths appear nowhere', async () => {
    await plant(mode, async (place, secrets, operation) => {
      const said: string[] = [];
      const { method, body } = operation;
      const targets = [...secretQueries(secrets).map((query) => targetOf(operation, query)), ...secretTargets(secrets)];
      for (const target of targets) {
        const asked = fake.requests.length;
        said.push(ownWords(place, await send(place, secrets, target, { method, body }), asked));
      }
      return said;
    });
  });

  it('that clients send in bodies and credentials appear nowhere', async () => {
    await plant(mode, async (place, secrets, operation) => {
      const said: string[] = [];
      const { method, body } = operation;
      const { name, email, password, token } = secrets;
      const calls: Call[] = [
        ...(body === undefined ? [] : secretBodies(secrets)).map((one) => ({ method, body: one })),
        ...[
          basic(name, password),
          basic(email, password),
          basic('everything', password),
          `Bearer ${token}`,
          `Basic ${token}`,
        ].map((Authorization) => ({ method, body, user: null, headers: { Authorization } })),
      ];
      for (const call of calls) {
        const asked = fake.requests.length;
        said.push(ownWords(place, await send(place, secrets, targetOf(operation), call), asked));
      }
      return said;
    });
  });

  // Plain names and random tokens are not included, because they look the same as ordinary request ids.
  it('that clients send as request ids appear nowhere', async () => {
    await plant(mode, async (place, secrets, operation) => {
      const said: string[] = [];
      const { method, body } = operation;
      const { name, email, password, token, ip } = secrets;
      const recognizable = [
        email,
        ip,
        `from-${ip}`,
        basic(name, password),
        `${email}:1`,
        `Bearer:${token}`,
        `token=${token}`,
      ];
      const hidden = [`${name}:${password}`, email].map((text) => Buffer.from(text).toString('base64'));
      for (const id of [...recognizable, ...hidden, ...(/^(?:eyJ|sk_)/.test(token) ? [token] : [])]) {
        const headers = { 'X-Request-Id': id };
        const { gateway } = place;
        const reply = await gateway.call(targetOf(operation), { user: 'everything', method, body, headers });
        const given = String(reply.headers['x-request-id']);
        await gateway.lineOf(given);
        said.push(given);
      }
      return said;
    });
  });

  it('that the upstream sends appear nowhere', async () => {
    await plant(mode, async (place, secrets, operation) => {
      const said: string[] = [];
      const { method, body } = operation;
      for (const sends of secretResponses(operation, secrets)) {
        fake.handler = () => sends;
        place.gateway.gateway.services.cache.purgeAll();
        const asked = fake.requests.length;
        const headers = { 'Portico-Force': 'true' };
        said.push(ownWords(place, await send(place, secrets, targetOf(operation), { method, body, headers }), asked));
      }
      return said;
    });
  });

  // Together, the three modes try every kind of secret in every place.
  it('in unusual forms in unusual places of a request appear nowhere', async () => {
    await plantOddly(mode, async ({ gateway }, secrets) => {
      const said: string[] = [];
      let [sent, replied] = [0, 0];
      for (const [kind, secret] of Object.values(secrets).entries()) {
        for (const request of ownThird(mode, kind, oddRequests(secret, `odd-${(count += 1)}`))) {
          const asked = fake.requests.length;
          const reply = await sendRaw(Number(new URL(gateway.url).port), request);
          sent += 1;
          if (reply.startsWith('HTTP/1.1 ')) replied += 1;
          if (fake.requests.length === asked) said.push(reply);
        }
      }
      expect(replied).toBeGreaterThan(0.9 * sent);
      return said;
    });
  });

  it('in unusual forms in unusual places of a response appear nowhere', async () => {
    await plantOddly(mode, async ({ gateway }, secrets) => {
      const list = `/services/v2/question.json?q=${(count += 1)}`;
      const targets = [list, '/services/v2/node/5/comment.json', '/services/v2/thing.json'];
      const asked = fake.requests.length;
      let called = 0;
      for (const [kind, secret] of Object.values(secrets).entries()) {
        for (const [at, bytes] of ownThird(mode, kind, oddResponses(secret)).entries()) {
          fake.handler = (_request, response) => {
            response.socket?.end(bytes, 'latin1');
            return undefined;
          };
          // In a short run, the targets take turns. Each target still receives every response, but with fewer secrets.
          const turn = (Math.floor(kind / MODES.length) + at) % targets.length;
          for (const target of isLongRun ? targets : targets.slice(turn, turn + 1)) {
            // If the upstream's response is truncated, the client's connection is closed too, and the call fails.
            await gateway.call(target, { user: 'everything', headers: secretless }).catch(() => undefined);
            called += 1;
            gateway.gateway.services.cache.purgeAll();
          }
        }
      }
      expect(fake.requests.length - asked).toBeGreaterThan(0.9 * called);
      return [];
    });
  });
});

const PLAIN: RenderOptions = { version: '0', columns: 100, colors: false };

// Finding lines in the contract is the slowest part of creating a report, so it is done once for all modes.
const placeOfEntry = createContractPlaces(undefined, loadOperations(CONTRACT_DEFAULTS), '/');

/** Returns the report rendered by `portico report` for a ledger. */
async function reportOn(file: string): Promise<Report> {
  const snapshot = await ledgerAt({ ...LEDGER_DEFAULTS, file }).read({});
  if (snapshot === undefined) throw new Error('there is no ledger');
  const scope = { since: undefined, operation: undefined, release: undefined };
  return toReport(snapshot, { scope, baseline: { accepted: [] }, placeOf: placeOfEntry });
}

describe('after all of these runs, secrets', () => {
  it.each(MODES)('do not appear in the metrics, the console or the files of a gateway in %s', async (mode) => {
    const { gateway, file } = placeOf(mode);
    const snapshot = await gateway.gateway.services.records.snapshot();
    expect(snapshot.entries.length).toBeGreaterThan(20);
    const views = ['violations', 'traffic', 'status', 'upstream', 'levels', 'cache', 'permissions', 'configuration'];
    const pages = ['/metrics', '/readyz', ...[...views, 'contract'].map((view) => `/console/api/${view}`)];
    const texts: (string | Buffer)[] = [];
    for (const page of pages) {
      const reply = await gateway.admin(page);
      expect([page, reply.status]).toEqual([page, 200]);
      texts.push(reply.text);
    }
    // Each of these requests reads a new snapshot of the ledger, so only a few are made.
    for (const { fingerprint } of snapshot.entries.slice(0, propertyRuns(20)))
      texts.push((await gateway.admin(`/console/api/violations/${fingerprint}`)).text);
    const folder = join(file, '..');
    const files = readdirSync(folder);
    expect(files).toContain('ledger.db-wal');
    texts.push(...files.map((name) => readFileSync(join(folder, name))));
    expect(findSecrets(texts, ...planted)).toEqual([]);
    expect(findTexts(texts, oddlyPlanted)).toEqual([]);
  });

  it.each(MODES)('do not appear in a report on the violations in %s', async (mode) => {
    const { file } = placeOf(mode);
    const { code, out } = await runInProcess(['report', '--ledger', file, '--format', 'json']);
    expect(code).toBe(0);
    const report = await reportOn(file);
    const first = findingsOf(report)[0]?.entry.fingerprint;
    for (const [format, { report: render }] of REPORT_FORMATS) {
      const text = format === 'json' ? out : render(report, PLAIN);
      expect([format, text.includes(first ?? 'none')]).toEqual([format, true]);
      expect(findSecrets(text, ...planted)).toEqual([]);
      expect(findTexts(text, oddlyPlanted)).toEqual([]);
    }
  });

  it.each(MODES)('do not appear in a comparison that shows all violations in %s as new', async (mode) => {
    const { file } = placeOf(mode);
    const report = await reportOn(file);
    const first = findingsOf(report)[0]?.entry.fingerprint;
    const comparison = compareReports(
      ['nothing', { ...report, groups: [], shadowDifferences: [] }],
      [report.releases[0] ?? '', report],
    );
    for (const [format, { comparison: render }] of REPORT_FORMATS) {
      const text = render(comparison, PLAIN);
      expect([format, text.includes(first ?? 'none')]).toEqual([format, true]);
      expect(findSecrets(text, ...planted)).toEqual([]);
      expect(findTexts(text, oddlyPlanted)).toEqual([]);
    }
  });

  it.each(MODES)('do not appear in the output of portico learn or portico ladder for a gateway in %s', async (mode) => {
    const { file } = placeOf(mode);
    // The latest observations are written when a gateway stops. All gateways stop at the same time.
    await Promise.all([...places.values()].map(({ gateway }) => gateway.close()));
    const observations = join(file, '..', 'observations.json');
    const learned = await runInProcess(['learn', '--observations', observations, '--min-confidence', '0']);
    const beside = tempFolder();
    const config = join(beside, 'portico.yaml');
    writeFileSync(join(beside, 'roles.yaml'), await fastRoles(), { mode: 0o600 });
    writeFileSync(config, JSON.stringify({ ledger: { file }, ...keptIn(join(file, '..')) }));
    const ladder = await runInProcess(['ladder', '--config', config, '--mode', mode]);
    expect([learned.code, ladder.code]).toEqual([0, 0]);
    expect(learned.out).toContain('overlay: 1.0.0');
    const files = readdirSync(join(file, '..'));
    expect(files).toContain('observations.json');
    const texts = [learned, ladder].flatMap(({ out, err }) => [out, err]);
    texts.push(...files.map((one) => readFileSync(join(file, '..', one), 'latin1')));
    expect(findSecrets(texts, ...planted)).toEqual([]);
    expect(findTexts(texts, oddlyPlanted)).toEqual([]);
  });

  it('do not appear in the spans that the gateways have exported', () => {
    // All gateways are closed, so they have exported all of their spans.
    expect(receiver.spans.length).toBeGreaterThan(200);
    expect(findSecrets(receiver.bytes, ...planted)).toEqual([]);
    expect(findTexts(receiver.bytes, oddlyPlanted)).toEqual([]);
  });

  it('do not appear in the output of portico check for a server that sends them everywhere', async () => {
    // There are two walks, because the ids found during a walk determine which operations are requested.
    for (const own of [planted.slice(-8, -4), planted.slice(-4)]) {
      const responses = OPERATIONS.map(
        (operation) => [operation, own.map((secrets) => secretResponses(operation, secrets))] as const,
      );
      let asked = 0;
      fake.handler = ({ target: url }) => {
        const [, those = []] =
          responses.find(([operation]) => url.startsWith(targetOf(operation).split('?')[0] ?? '')) ?? [];
        asked += 1;
        const at = asked % own.length;
        const sends = those[at]?.[asked % those[at].length];
        return sends ?? { status: 200, json: { [own[at]?.email ?? '']: own[at]?.token } };
      };
      const ledger = join(tempFolder(), 'walk.db');
      const walk = ['--against', fake.url, '--delay', '0', '--max-requests', '60', '--ledger', ledger];
      const { out, err } = await runInProcess(['check', ...walk]);
      expect(asked).toBeGreaterThan(10);
      expect(findSecrets([out, err, readFileSync(ledger)], ...own)).toEqual([]);
    }
  });

  it('are found by the search only if they are present', () => {
    const [secrets] = planted;
    if (secrets === undefined) throw new Error('nothing was planted');
    expect(findSecrets('a quiet text', secrets)).toEqual([]);
    for (const secret of Object.values(secrets) as string[]) {
      // The search compares only some of the positions, so each secret is placed at several.
      for (let before = 0; before < 10; before += 1)
        expect(findSecrets(`${'x'.repeat(before)}${secret}`, secrets)).not.toEqual([]);
      expect(findSecrets(`x${secret}y`, secrets)).not.toEqual([]);
      expect(findSecrets(Buffer.from(`x${secret}y`), secrets)).not.toEqual([]);
      expect(findSecrets(`q=${encodeURIComponent(secret)}`, secrets)).not.toEqual([]);
    }
    expect(findSecrets(basic(secrets.name, secrets.password), secrets)).not.toEqual([]);
  });
});
