import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startFleet } from '../builders/fleet.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../builders/otlp-receiver.ts';
import { findTexts } from '../builders/planted-secrets.ts';
import { startRedisServer } from '../builders/redis-server.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { eventually } from '../builders/until.ts';
import { AUDIENCE, createKey, type Issuer, startIssuer } from '../features/oidc/start-issuer.ts';
import {
  ADMIN_TOKEN,
  COMMENT,
  keyFile,
  keyText,
  knowsAlice,
  PASSWORDS,
  QUESTIONS,
  SERVICE,
  type TokenGateway,
  withTokens,
} from '../features/tokens/token-gateway.ts';

const [PASSWORD = ''] = PASSWORDS;
const MODES = ['strict', 'staging', 'observe'] as const;
const ROBOT = basic(SERVICE.username, SERVICE.password);
const READ = ['View the questions list', 'View the question page', 'View answers in the question page'];

needsProgram('redis', 'five clients of a fleet', (path) => {
  let upstream: FakeUpstream;
  let receiver: OtlpReceiver;
  let issuer: Issuer;
  beforeAll(async () => {
    upstream = await startFakeUpstream(knowsAlice);
    receiver = await startOtlpReceiver();
    issuer = await startIssuer(await createKey('first'));
  });

  it.each(MODES)('each get the right status and pages of their own in %s', async (mode) => {
    const clock = createTestClock(Date.now());
    const folder = tempFolder();
    const config = {
      mode,
      logging: { level: 'trace' },
      upstream: { credentials: mode === 'observe' ? { kind: 'forward' } : SERVICE },
      ledger: { file: join(folder, 'ledger.db') },
      tracing: { endpoint: receiver.url, exportSeconds: 0.1 },
      tokens: {
        keyFile: keyFile('tokens', folder),
        sealingKeyFile: keyFile('sealing', folder),
        file: join(folder, 'tokens.json'),
      },
      oidc: { issuers: [{ issuer: issuer.url, audience: AUDIENCE, caller: 'account' }] },
    };
    const gateways = await startFleet(2, await startRedisServer(path), upstream, {
      clock,
      config,
      env: { PORTICO_ADMIN_TOKEN: ADMIN_TOKEN },
    });
    const [one, two] = gateways.map((gateway) => withTokens(gateway, { upstream, clock, file: '' }));
    if (one === undefined || two === undefined) throw new Error('there are no gateways');
    const [known, gone] = [await one.create({ scope: READ }), await one.create({ scope: READ })];
    // In observe mode, nobody can tell whether the password is right.
    const enrolled = await one.change('/enroll', { id: known.id, password: PASSWORD });
    expect(enrolled.status).toBe(mode === 'observe' ? 409 : 200);
    if (mode !== 'observe')
      await eventually(async () => (await two.list()).some((token) => token.id === known.id && token.enrolled));
    const jwt = await issuer.tokenFor('alice');
    const clients: Readonly<Record<string, string>> = {
      password: basic('alice'),
      'a token as the password': basic('alice', known.token),
      'a token': `Bearer ${known.token}`,
      'OpenID Connect': `Bearer ${jwt}`,
      'a token that is revoked soon': `Bearer ${gone.token}`,
    };
    const all: readonly TokenGateway[] = [one, two];
    const isObserve = mode === 'observe';

    const target = `${QUESTIONS}?pageSize=7`;
    for (const [client, authorization] of Object.entries(clients)) {
      const { status, sent } = await one.ask(authorization, target);
      if (isObserve) expect([client, status, sent]).toEqual([client, 200, [authorization]]);
      else {
        // Nobody gets a page of another client, unless it is the same token in its other form.
        expect([client, status, sent]).toEqual([client, 200, client === 'a token' ? [] : [ROBOT]]);
        await eventually(async () => {
          const { reply } = await two.ask(authorization, target);
          return reply.status === 200 && String(reply.headers['cache-status']).includes('hit');
        });
      }
    }
    const own = await two.ask(clients['a token'] ?? '', COMMENT);
    const forwarded = isObserve ? clients['a token'] : basic('alice', PASSWORD);
    expect([own.status, own.sent]).toEqual([200, [forwarded]]);
    expect((await two.ask(clients['OpenID Connect'] ?? '', COMMENT)).status).toBe(isObserve ? 200 : 501);

    expect((await two.change('/revoke', { id: gone.id })).status).toBe(200);
    await eventually(async () => (await one.list()).find(({ id }) => id === gone.id)?.state === 'revoked');
    for (const gateway of all) {
      const { status, sent } = await gateway.ask(`Bearer ${gone.token}`, target);
      expect([status, sent]).toEqual(isObserve ? [200, [`Bearer ${gone.token}`]] : [401, []]);
      expect((await gateway.ask(`Bearer ${known.token}`, target)).status).toBe(200);
    }

    // Nothing that others can read contains a secret.
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    const texts: (string | Buffer)[] = [];
    for (const { gateway } of all) {
      const snapshot = await gateway.gateway.services.records.snapshot();
      texts.push(JSON.stringify(snapshot), ...gateway.log);
      const views = [
        'tokens',
        'violations',
        'traffic',
        'status',
        'upstream',
        'levels',
        'permissions',
        'configuration',
        'audit',
      ];
      const pages = [
        '/metrics',
        '/tokens',
        '/audit',
        '/readyz',
        '/upstreamz',
        ...views.map((view) => `/console/api/${view}`),
      ];
      for (const page of pages) {
        const reply = await gateway.admin(page, { headers });
        expect([page, reply.status]).toEqual([page, 200]);
        texts.push(reply.text);
      }
    }
    await receiver.span(({ attributes }) => attributes['url.path'] !== undefined);
    texts.push(...receiver.bytes);
    for (const { gateway } of all) await gateway.close();
    texts.push(
      ...readdirSync(folder)
        .filter((name) => !name.endsWith('.key'))
        .map((name) => readFileSync(join(folder, name))),
    );
    const secrets = [
      ...[known.token, gone.token].map((token) => token.slice(21, -8)),
      ...jwt.split('.').slice(1),
      PASSWORD,
      keyText('tokens'),
      keyText('sealing'),
      SERVICE.password,
      ...Object.values(clients)
        .filter((value) => value !== clients['password'])
        .map((value) => value.split(' ')[1] ?? ''),
    ];
    expect(texts.join('').length).toBeGreaterThan(10_000);
    expect(findTexts(texts, secrets)).toEqual([]);
  });
});
