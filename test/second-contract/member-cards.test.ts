import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../src/engine/config/load-settings.ts';
import { withUpstreamUrl } from '../../src/engine/config/settings.ts';
import { createGateway, type Gateway } from '../../src/engine/gateway.ts';
import { basic, callAt } from '../builders/call.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import type { FakeUpstream } from '../builders/fake-upstream.ts';
import { BOOKSHOP } from './bookshop.ts';
import { cardOf, memberCards } from './member-cards.ts';
import { NEW, shopFolder, startShop } from './shop-folder.ts';

const KEY = 'the key of the shop';
let shop: FakeUpstream;
let folder: string;
let gateway: Gateway;
beforeAll(async () => {
  shop = await startShop();
  folder = await shopFolder();
  writeFileSync(join(folder, 'cards.key'), KEY, { mode: 0o600 });
  gateway = await start({ mode: 'strict' });
});

async function start(more: object): Promise<Gateway> {
  const given = {
    ...more,
    contract: { folder },
    roles: { file: 'roles.json' },
    listen: { port: 0, adminPort: 0 },
    memberCards: { keyFile: 'cards.key' },
  };
  const { settings, faults } = readSettings(
    { env: {}, cwd: folder, given },
    { profile: BOOKSHOP, features: [memberCards] },
  );
  expect(faults).toEqual([]);
  const started = await createGateway(withUpstreamUrl(settings, shop.url), {
    features: [memberCards],
    logStream: { write: () => undefined },
  });
  cleanUpAfterFile(() => started.close());
  return started;
}

/** Sends a request with this `Authorization` value, and returns the response with what the shop received. */
async function ask(
  target: string,
  authorization: string,
  { at = gateway, ...call }: { at?: Gateway; method?: string; body?: unknown } = {},
) {
  const before = shop.requests.length;
  const { status, headers, json } = await callAt(at.publicUrl, target, {
    ...call,
    user: null,
    headers: { Authorization: authorization },
  });
  const { code } = json as { code?: string };
  const sent = shop.requests.slice(before).map((request) => request.headers.authorization);
  return {
    status,
    code,
    json: json as object,
    challenge: headers['www-authenticate'],
    cache: headers['cache-status'],
    sent,
  };
}

const CARD = `Bearer ${cardOf('sylvia', KEY)}`;

describe('a verifier that a feature brings', () => {
  it('identifies the caller, and its credential never reaches the upstream', async () => {
    expect(await ask('/shop/books?pageSize=3', CARD)).toMatchObject({ status: 200, sent: [basic('sylvia')] });
  });

  it('stands before the one of the configuration, which still accepts passwords', async () => {
    expect(await ask('/shop/books/7', basic('sylvia'))).toMatchObject({ status: 200 });
  });

  it('can let the caller do less than a password does', async () => {
    expect(await ask('/shop/books', CARD, { method: 'POST', body: NEW })).toMatchObject({
      status: 403,
      code: 'permission_denied',
      sent: [],
    });
    expect((await ask('/shop/books/7', CARD)).json).not.toHaveProperty('purchasePrice');
    expect((await ask('/shop/books/7', basic('sylvia'))).json).toHaveProperty('purchasePrice');
  });

  it('does not share pages with callers who may see more', async () => {
    const target = '/shop/books?pageSize=7';
    expect((await ask(target, basic('sylvia'))).json).toMatchObject({ books: [{ purchasePrice: 4.5 }] });
    const first = await ask(target, CARD);
    expect(first.cache).not.toContain('hit');
    expect(JSON.stringify(first.json)).not.toContain('purchasePrice');
    expect((await ask(target, CARD)).cache).toContain('hit');
  });

  it.each([
    ['forged', `Bearer ${cardOf('sylvia', 'another key')}`],
    ['malformed', 'Bearer sylvia'],
    ['empty', 'Bearer '],
  ])('refuses a credential that is %s with the challenges of all schemes, and sends nothing', async (_, header) => {
    expect(await ask('/shop/books', header)).toMatchObject({
      status: 401,
      code: 'credentials_refused',
      challenge: expect.stringMatching(/^Bearer realm="[^"]*", error="invalid_token", Basic realm=/) as string,
      sent: [],
    });
  });

  it('is named with the others if a scheme is unknown', async () => {
    const refused = await ask('/shop/books', 'Digest username="sylvia"');
    expect(refused).toMatchObject({ status: 401, sent: [] });
    expect(JSON.stringify(refused.json)).toContain('the schemes Bearer and Basic are accepted');
  });

  it('does not share a page that its credential has fetched with an account that has the same few permissions', async () => {
    const at = await start({
      mode: 'strict',
      operations: { listBooks: { cache: { audience: 'permissions', assumeImpersonal: true } } },
    });
    const target = '/shop/books?pageSize=9';
    expect(await ask(target, CARD, { at })).toMatchObject({ status: 200, sent: [basic('sylvia')] });
    expect(await ask(target, basic('carol'), { at })).toMatchObject({ status: 200, sent: [basic('carol')] });
  });

  it('gets 501 where the upstream needs a credential and there is none, also on undocumented paths', async () => {
    const at = await start({
      mode: 'strict',
      undocumented: { allow: [{ method: 'GET', path: '/shop/window/{name}' }] },
    });
    const card = `Bearer ${cardOf('carol', KEY)}`;
    for (const target of ['/shop/books?pageSize=2', '/shop/window/left'])
      expect(await ask(target, card, { at })).toMatchObject({ status: 501, code: 'needs_caller_credential', sent: [] });
  });

  it('is not asked in observe mode, which forwards every credential unchanged', async () => {
    const at = await start({ mode: 'observe' });
    const card = `Bearer ${cardOf('carol', KEY)}`;
    for (const target of ['/shop/books', '/shop/window/left'])
      expect(await ask(target, card, { at })).toMatchObject({ status: 200, sent: [card] });
  });
});
