import { beforeAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../src/engine/config/load-settings.ts';
import { withUpstreamUrl } from '../../src/engine/config/settings.ts';
import { createGateway, type Gateway } from '../../src/engine/gateway.ts';
import { toWalkedGateway } from '../../src/workbench/walk/send-walk-request.ts';
import { walk } from '../../src/workbench/walk/walk.ts';
import { basic, type Call, callAt } from '../builders/call.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import type { FakeUpstream } from '../builders/fake-upstream.ts';
import { BOOKSHOP, cashTill } from './bookshop.ts';
import { BOOK, NEW, shopFolder, startShop } from './shop-folder.ts';

let shop: FakeUpstream;
let gateway: Gateway;
beforeAll(async () => {
  shop = await startShop();
  const folder = await shopFolder();
  const { settings, faults } = readSettings(
    {
      env: {},
      cwd: folder,
      given: {
        mode: 'strict',
        checks: { responses: 'enforce' },
        contract: { folder },
        roles: { file: 'roles.json' },
        listen: { port: 0, adminPort: 0 },
        cashTill: { enabled: false },
        undocumented: { allow: [{ method: 'GET', path: '/shop/window/{name}' }] },
      },
    },
    { profile: BOOKSHOP, features: [cashTill] },
  );
  expect(faults).toEqual([]);
  gateway = await createGateway(withUpstreamUrl(settings, shop.url), {
    features: [cashTill],
    logStream: { write: () => undefined },
  });
  cleanUpAfterFile(() => gateway.close());
});

/** Sends a request to the shop's gateway. Returns the status, the code of the error, if any, and the body. */
async function ask(target: string, user: string, call: Call = {}) {
  const { status, headers, json } = await callAt(gateway.publicUrl, target, { user, ...call });
  return { status, error: (json as { code?: string }).code, json: json as object, cache: headers['cache-status'] };
}

describe('a gateway for another API', () => {
  it('checks requests against the contract', async () => {
    expect(await ask('/shop/books?page=0', 'sylvia')).toMatchObject({ status: 400, error: 'invalid_parameter' });
    expect(await ask('/shop/books?colour=red', 'sylvia')).toMatchObject({ status: 400, error: 'unknown_parameter' });
    expect(await ask('/shop/shelves', 'sylvia')).toMatchObject({ status: 404, error: 'not_in_contract' });
    const without = { method: 'POST', body: { title: 'Ulysses' } };
    expect(await ask('/shop/books', 'sylvia', without)).toMatchObject({ status: 400, error: 'invalid_body' });
  });

  it('checks requests and responses against the rules of its profile', async () => {
    const wrong = { method: 'POST', body: { ...NEW, isbn: '9780141182804' } };
    expect(await ask('/shop/books', 'sylvia', wrong)).toMatchObject({ status: 400, error: 'invalid_body' });
    expect(await ask('/shop/books', 'sylvia', { method: 'POST', body: NEW })).toMatchObject({ status: 201 });
    const { handler } = shop;
    shop.handler = () => ({ json: { books: [{ ...BOOK, stock: 0 }], pageCount: 1 } });
    expect(await ask('/shop/books?inStock=true', 'sylvia')).toMatchObject({
      status: 502,
      error: 'upstream_invalid_response',
    });
    shop.handler = handler;
  });

  it('refuses a response that violates a schema, and translates errors', async () => {
    expect(await ask('/shop/books/8', 'sylvia')).toMatchObject({ status: 502, error: 'upstream_invalid_response' });
    expect(await ask('/shop/books/9', 'sylvia')).toMatchObject({
      status: 404,
      error: 'upstream_not_found',
      json: { error: 'No such book.' },
    });
    const { handler } = shop;
    shop.handler = () => ({ json: { problem: { text: 'The shop is closed.' } } });
    expect(await ask('/shop/books/7', 'sylvia')).toMatchObject({ status: 502, error: 'upstream_error_in_success' });
    shop.handler = handler;
  });

  it('enforces permissions, and ownership as the profile finds it', async () => {
    const change = { method: 'PUT', body: NEW };
    expect(await ask('/shop/books', 'carol', { method: 'POST', body: NEW })).toMatchObject({
      status: 403,
      error: 'permission_denied',
    });
    await ask('/shop/books/7', 'sylvia');
    expect(await ask('/shop/books/7', 'carol', change)).toMatchObject({ status: 403, error: 'permission_denied' });
    expect(await ask('/shop/books/7', 'sylvia', change)).toMatchObject({ status: 200 });
  });

  it('removes private fields for callers who may not see them', async () => {
    expect((await ask('/shop/books/7', 'carol')).json).not.toHaveProperty('purchasePrice');
    expect((await ask('/shop/books/7', 'sylvia')).json).toHaveProperty('purchasePrice', 4.5);
  });

  it('bounds pages', async () => {
    await ask('/shop/books?page=1', 'carol');
    expect(await ask('/shop/books?page=3', 'carol')).toMatchObject({ status: 400, error: 'page_out_of_bounds' });
    expect(await ask('/shop/books?pageSize=500', 'carol')).toMatchObject({
      status: 400,
      error: 'page_size_out_of_bounds',
    });
  });

  it('stores pages until a write purges them', async () => {
    await ask('/shop/books?pageSize=5', 'carol');
    expect((await ask('/shop/books?pageSize=5', 'carol')).cache).toContain('hit');
    expect(await ask('/shop/books/7', 'sylvia', { method: 'PUT', body: NEW })).toMatchObject({ status: 200 });
    expect((await ask('/shop/books?pageSize=5', 'carol')).cache).not.toContain('hit');
  });

  it('disables operations that need a part that the configuration turns off', async () => {
    expect(await ask('/shop/till', 'sylvia')).toMatchObject({ status: 403, error: 'permission_denied' });
  });

  it('forwards allowed undocumented paths under the base path', async () => {
    expect(await ask('/shop/window/left', 'sylvia')).toMatchObject({ status: 200 });
  });

  it('can be walked', async () => {
    const asked: string[] = [];
    const summary = await walk(
      toWalkedGateway(gateway),
      {
        authorization: basic('sylvia'),
        maxRequests: 20,
        delayMs: 0,
        ids: new Map(),
        signal: new AbortController().signal,
        record: () => undefined,
      },
      ({ exchange, status }) => asked.push(`${exchange.arrival.target} ${status}`),
    );
    expect(summary.ended).toBe('complete');
    // The id of the book comes from the list.
    expect(asked).toEqual(['/shop/books 200', '/shop/books/7 200', '/shop/books?inStock=true 200']);
  });
});
