import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { type ClientResponse, callAt } from '../../builders/call.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { runInProcess } from '../../cli/run-in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-learning-'));
afterAll(() => rmSync(folder, { recursive: true }));

const reference = await startReferenceServer({ complete: true });
afterAll(() => reference.close());

let files = 0;
const fresh = (name: string) => join(folder, `${(files += 1)}-${name}`);

async function gatewayWith(config: Record<string, unknown>): Promise<TestGateway> {
  return startTestGateway({ upstream: reference, config: { cache: { enabled: false }, ...config } });
}

async function violationsOf(gateway: TestGateway): Promise<string[]> {
  const { records: ledger } = gateway.gateway.services;
  await ledger.flush();
  const { entries } = await ledger.snapshot();
  return entries.map(({ keyword, at }) => `${keyword} ${at}`);
}

/**
 * Sends a request and waits until the request has been recorded, which happens only after the client has received the
 * response.
 */
async function ask(gateway: TestGateway, target: string, status = 200): Promise<ClientResponse> {
  const response = await gateway.call(target);
  expect(response.status, target).toBe(status);
  await gateway.lineOf(String(response.headers['x-request-id']));
  return response;
}

async function askPages(gateway: TestGateway, pages: readonly number[]): Promise<void> {
  for (const page of pages) await ask(gateway, `/services/v2/question.json?page=${page}&pageSize=20`);
}

const questions = (await callAt(reference.url, '/services/v2/question.json?pageSize=100')).json as unknown as {
  list: { id: number; commentIds: number[] }[];
};
const commented = questions.list.flatMap(({ id, commentIds }) => (commentIds.length > 0 ? id : []));

/**
 * Requests lists with and without an envelope, and the action log, until every kind of drift has been observed
 * several times.
 */
async function askEverything(gateway: TestGateway, times = 36): Promise<void> {
  for (let at = 0; at < times; at += 1)
    for (const target of [
      `question.json?pageSize=5&page=${at + 1}`,
      `idea.json?pageSize=3&page=${at + 1}`,
      `action.json?page=${at + 1}`,
      `node/${commented[at % commented.length]}/comment.json`,
    ])
      await ask(gateway, `/services/v2/${target}`);
}

/** Learns from pages of questions. Returns the overlay that the command writes, and the observations file. */
async function overlayFrom(pages: readonly number[]): Promise<{ overlay: string; observations: string }> {
  const observations = fresh('observations.json');
  const overlay = fresh('learned.yaml');
  const gateway = await gatewayWith({ learn: { traffic: true, file: observations } });
  await askPages(gateway, pages);
  await gateway.close();
  const { code, err } = await runInProcess(['learn', '--observations', observations, '--output', overlay]);
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining(`Written to ${overlay}`) as string });
  return { overlay, observations };
}

describe('learning from traffic', () => {
  it('ends the violations of an undocumented field and starts to check its type', async () => {
    reference.setChaos(['extra-field:surprise@6']);
    const before = await gatewayWith({});
    await askPages(before, [1, 2, 3]);
    expect(await violationsOf(before)).toEqual(['undocumented-field /list/*/surprise']);

    const { overlay } = await overlayFrom([1, 2, 3, 4]);
    const after = await gatewayWith({ contract: { overlays: [overlay] } });
    await askPages(after, [1, 2, 3, 4, 5]);
    expect(await violationsOf(after)).toEqual([]);

    reference.setChaos(['extra-field:surprise@6', 'wrong-type:surprise@6']);
    await askPages(after, [1]);
    expect(await violationsOf(after)).toEqual(['type /list/*/surprise']);
    reference.setChaos([]);
  });

  it('ends the advisories of an absent expected field and the violations of a field with another type', async () => {
    reference.setChaos(['missing-field:slug@6', 'wrong-type:score@6']);
    const before = await gatewayWith({});
    await askPages(before, [1]);
    expect((await violationsOf(before)).toSorted()).toEqual(['type /list/*/score', 'x-expected /list/*/slug']);
    const { overlay } = await overlayFrom([1, 2, 3, 4]);
    const after = await gatewayWith({ contract: { overlays: [overlay] } });
    await askPages(after, [1, 2]);
    expect(await violationsOf(after)).toEqual([]);
    reference.setChaos([]);
  });

  it('ends all violations of a server with every kind of drift, and new drift is reported', async () => {
    // This call has the same effect as `portico reference --fault drift`.
    reference.setChaos(['drift']);
    const observations = fresh('observations.json');
    const overlay = fresh('learned.yaml');
    const before = await gatewayWith({ learn: { traffic: true, file: observations } });
    await askEverything(before);
    const found = await violationsOf(before);
    for (const keyword of [
      'required /list/*/id',
      'type /list/*/id',
      'undocumented-field /list/*/unexpectedField',
      'type ',
    ])
      expect(found.filter((one) => one === keyword).length, keyword).toBeGreaterThan(0);
    await before.close();
    const { code, out } = await runInProcess(['learn', '--observations', observations, '--output', overlay]);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('is also array of Question') as string });

    const config = fresh('portico.yaml');
    writeFileSync(config, JSON.stringify({ contract: { overlays: [overlay] } }));
    const again = ['learn', '--observations', observations, '--config', config];
    expect((await runInProcess(again)).out).not.toContain('is also array of Question');
    const text = readFileSync(overlay, 'utf8');
    const over = await runInProcess([...again, '--output', overlay]);
    expect(over).toMatchObject({
      code: 2,
      err: expect.stringContaining('this file is already in contract.overlays') as string,
    });
    expect(readFileSync(overlay, 'utf8')).toBe(text);

    const after = await gatewayWith({ contract: { overlays: [overlay] } });
    await askEverything(after);
    expect(await violationsOf(after)).toEqual([]);
    reference.setChaos([
      'extra-field@6',
      'wrong-type:unexpectedField@6',
      'missing-field:title@8',
      'extra-field:another@7',
    ]);
    await askEverything(after, 1);
    expect((await violationsOf(after)).toSorted()).toEqual([
      'type /list/*/unexpectedField',
      'undocumented-field /actions/*/another',
      'x-expected /list/*/title',
    ]);
    reference.setChaos([]);
  });

  it('writes a file that only its owner can read, and leaves no temporary file', async () => {
    const { observations } = await overlayFrom([1, 2, 3]);
    expect(statSync(observations).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('continues with the stored observations after a restart', async () => {
    const file = fresh('observations.json');
    for (const page of [1, 2, 3]) {
      const gateway = await gatewayWith({ learn: { traffic: true, file } });
      await askPages(gateway, [page]);
      await gateway.close();
    }
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ portico: 'observations', version: 1, answers: 3 });
  });

  it('counts undocumented paths by template and status, without ids and names', async () => {
    const file = fresh('observations.json');
    const gateway = await gatewayWith({
      mode: 'staging',
      learn: { traffic: true, file },
    });
    const { json } = await ask(gateway, '/services/v2/question.json?pageSize=3');
    const ids = (json as unknown as { list: { id: number }[] }).list.map(({ id }) => id);
    for (const id of ids) await ask(gateway, `/services/v2/question/${id}.json`);
    // The server rejects a name where it expects an id.
    await ask(gateway, '/services/v2/user/alice.json', 400);
    await gateway.close();
    const { paths } = JSON.parse(readFileSync(file, 'utf8')) as { paths: Record<string, object> };
    expect(Object.keys(paths)).toEqual(['GET /services/v2/question/{id}.json', 'GET /services/v2/user/{name}.json']);
    expect(paths['GET /services/v2/question/{id}.json']).toMatchObject({ seen: 3, statuses: { 200: 3 } });
    const { out } = await runInProcess(['learn', '--observations', file, '--output', fresh('none.yaml')]);
    expect(out).toContain('GET /services/v2/question/{id}.json: returns 200 (3); response bodies were not read');
  });

  it('writes nothing if it is off', async () => {
    const file = fresh('observations.json');
    const gateway = await gatewayWith({ learn: { traffic: false, file } });
    await askPages(gateway, [1]);
    await gateway.close();
    expect(gateway.gateway.services.features.messages.parsedResponse).toBeUndefined();
    expect(existsSync(file)).toBe(false);
  });

  it.each([
    '{',
    '{"portico":"observations","version":2}',
    '{"portico":"observations","version":1,"paths":{"x":{"body":7}}}',
  ])('prevents the start if the file is invalid, and names its key: %s', async (text) => {
    const file = fresh('observations.json');
    writeFileSync(file, text);
    await expect(gatewayWith({ learn: { traffic: true, file } })).rejects.toMatchObject({
      faults: [{ message: expect.stringContaining(`learn.file: ${file}`) as string }],
    });
  });
});
