import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { decodePage } from '../../src/engine/cache/shared-page-format.ts';
import { sharedBy } from '../builders/fleet.ts';
import { connectTo, startRedisServer } from '../builders/redis-server.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { eventually, until } from '../builders/until.ts';
import { type Contents, readContents, writeContents } from './earlier-release/redis-contents.ts';
import { QUESTIONS, shareEverything, startMember, startUpstream } from './earlier-release/scenario.ts';

/**
 * What a gateway of an earlier release (commit 3ce375ba, version 0.1.0) had written to an empty Redis after
 * `shareEverything`, and when it was read, in epoch milliseconds.
 *
 * Limits. The earlier release does not run here: what it does with the data of today's gateways is inferred from their
 * having the form of its own. A page is decoded, but not served, because gateways with different contracts or settings
 * do not share pages. Recorded times are moved to the time of the test. What only today's release writes is not compared.
 */
const { recordedAt, contents } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'earlier-release', 'recorded.json'), 'utf8'),
) as { readonly recordedAt: number; readonly contents: Contents };

const LOG = '{portico:changes}:log';
const HEAD = '{portico:changes}:head';
const PAGE = '{portico:page:';

const recorded = (key: string) => contents.find((one) => one.key.startsWith(key))?.value ?? [];
const fieldOf = (key: string, field: string) => recorded(key).find(([name]) => name === field)?.[1];

const DAY_MS = 86_400_000;

/**
 * Returns the recorded contents as if they had been written just now: all times in texts, in milliseconds, in seconds or
 * as instants, are moved. Redis compares some of them with its own clock.
 */
function asOfNow(): Contents {
  const shift = Date.now() - recordedAt;
  const isNear = (ms: number) => Math.abs(ms - recordedAt) < DAY_MS;
  const moved = (text: string) =>
    text
      .replaceAll(/\b\d{13}\b/g, (ms) => (isNear(Number(ms)) ? String(Number(ms) + shift) : ms))
      .replaceAll(/\b\d{10}\b/g, (at) =>
        isNear(Number(at) * 1000) ? String(Number(at) + Math.floor(shift / 1000)) : at,
      )
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => new Date(Date.parse(at) + shift).toISOString());
  return contents.map((one) => ({ ...one, value: one.value.map((texts) => texts.map(moved)) }));
}

/** The earlier release announces entries of the audit trail, too, but reads the trail again whenever it shows it. */
const ANNOUNCED = '"document":"audit-trail"';

/** Names and ids that differ at each start, in keys and in values. */
const DIFFERS = /[\w-]{43,}|[\da-f]{40}|[\da-f]{8}-[\da-f-]{27}|[\da-f]{12}(?![\w-])/g;

/** Returns the form of a value: the names of its members, and the types of the others. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((one) => JSON.stringify(formOf(one))))].toSorted();
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, one]) => [name, ['kind', 'document', 'action'].includes(name) ? one : formOf(one)] as const)
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
  return typeof value;
}

/** Returns the form of a text: that of its JSON, if it contains any, after what precedes it. */
function textForm(text: string): unknown {
  const plain = text.startsWith('base64:')
    ? Buffer.from(text.slice('base64:'.length), 'base64').toString('latin1')
    : text;
  const [start, end] = [plain.indexOf('{'), plain.indexOf('}{') < 0 ? plain.lastIndexOf('}') : plain.indexOf('}{')];
  if (start < 0) return /^\d+$/.test(plain) ? 'number' : plain.replaceAll(DIFFERS, '*');
  try {
    const before = plain.slice(0, start).replaceAll(/\d+/g, 'number').slice(0, 6);
    return [before, formOf(JSON.parse(plain.slice(start, end + 1)))];
  } catch {
    // The name of a key, which can contain braces, too.
    return plain.replaceAll(DIFFERS, '*');
  }
}

/** Returns the forms of everything that a server contains: of each key, its type, whether it expires, and its values. */
const formsOf = (all: Contents) =>
  all.flatMap(({ key, type, ms, value }) =>
    value.map((texts) =>
      JSON.stringify([
        key.replaceAll(DIFFERS, '*'),
        type,
        ms >= 0,
        texts.map((text, index) => (type === 'stream' && index === 0 ? 'id' : textForm(text))),
      ]),
    ),
  );

needsProgram('redis', 'a gateway beside one of an earlier release', (path) => {
  it('uses what the earlier one has written', async () => {
    const { url } = await startRedisServer(path);
    await writeContents(url, asOfNow());
    const upstream = await startUpstream();
    const gateway = await startMember(upstream, url, 'today');
    const sharing = sharedBy(gateway);
    const number = Number(fieldOf(HEAD, 'number'));
    await until(() => (sharing.changes.position()?.number ?? 0) >= number);
    expect(sharing.changes.position()?.lineage).toBe(fieldOf(HEAD, 'lineage'));

    // The failed logins: two are allowed.
    expect((await gateway.call(QUESTIONS, { user: 'bob', password: 'wrong once more' })).status).toBe(429);
    // The override.
    await eventually(async () => (await gateway.call('/services/v2/article.json')).status === 503);
    // The requests of the caller within the window.
    const used = Number(recorded('{portico:limit-')[0]?.[0]);
    expect((await gateway.call(QUESTIONS, { user: 'alice' })).headers['ratelimit']).toContain(`;r=${50 - used - 1}`);
    // The audit trail and the instances.
    const actions = async () => (await gateway.gateway.services.features.actions()).map(({ action }) => action);
    await eventually(async () => (await actions()).includes('override set') && (await actions()).includes('purge'));
    await eventually(() => sharing.instances.list().some(({ name }) => name === 'earlier'));
  });

  it('applies what the earlier one does from now on', async () => {
    const { url } = await startRedisServer(path);
    await writeContents(url, asOfNow());
    const upstream = await startUpstream();
    const gateway = await startMember(upstream, url, 'today');
    const { changes } = sharedBy(gateway);
    await until(() => changes.position() !== undefined);
    await gateway.call(QUESTIONS, { user: 'admin' });
    const asked = upstream.requests.length;
    await gateway.call(QUESTIONS, { user: 'admin' });
    expect(upstream.requests).toHaveLength(asked);
    // A purge in the form in which the earlier release has recorded one.
    const [, field = '', purge = '', ...rest] = recorded(LOG).find(([, , change]) => change?.includes('"purge"')) ?? [];
    const control = connectTo(url);
    await until(() => control.isAvailable());
    const append = `local number = redis.call('HINCRBY', KEYS[1], 'number', 1)
      redis.call('XADD', KEYS[2], number .. '-1', unpack(ARGV))
      return number`;
    const change = [field, purge.replace('"ideas"', '"questions"'), ...rest];
    const number = Number(await control.command(HEAD, ['EVAL', append, '2', HEAD, LOG, ...change]));
    control.close();
    await until(() => (changes.position()?.number ?? 0) >= number);
    await gateway.call(QUESTIONS, { user: 'admin' });
    expect(upstream.requests).toHaveLength(asked + 1);
  });

  it('decodes the page of the earlier one', () => {
    const [[text = ''] = []] = recorded(PAGE);
    const value = Buffer.from(text.replace('base64:', ''), 'base64');
    const [, hash = ''] = /"hash":"([^"]+)"/.exec(value.toString('latin1')) ?? [];
    const longest = { freshSeconds: 3000, staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 300 };
    const page = decodePage(value, { hash, now: recordedAt, maxBytes: 1 << 20, longest })?.page;
    expect(JSON.parse(page?.body.toString() ?? '')).toHaveProperty('list');
    expect(page).toMatchObject({ validity: 'valid', tags: expect.arrayContaining(['questions']) as string[] });
  });

  it('writes everything in the form that the earlier one reads', async () => {
    const { url } = await startRedisServer(path);
    const gateway = await startMember(await startUpstream(), url, 'today');
    await until(() => sharedBy(gateway).changes.position() !== undefined);
    await shareEverything(gateway);
    const missing = async () => {
      const found = new Set(formsOf(await readContents(url)));
      return formsOf(contents).filter((form) => !found.has(form) && !form.includes(ANNOUNCED));
    };
    // Some of it is written in the background.
    await expect.poll(missing, { timeout: 10_000, interval: 100 }).toEqual([]);
  });
});
