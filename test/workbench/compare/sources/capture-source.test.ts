import { describe, expect, it } from 'vitest';
import type { CapturedExchange } from '../../../../src/workbench/captures/read-capture.ts';
import { createCaptureSource } from '../../../../src/workbench/compare/sources/capture-source.ts';

async function* entriesOf(requests: readonly (readonly [host: string | undefined, target: string])[]) {
  for (const [host, target] of requests)
    yield await Promise.resolve<CapturedExchange>({ method: 'GET', host, target, response: undefined });
}

const open = (requests: Parameters<typeof entriesOf>[0], saved?: unknown, hosts?: readonly string[]) =>
  createCaptureSource(
    {
      entries: entriesOf(requests),
      repeats: false,
      own: hosts && { hosts, isDocumented: (target) => target.startsWith('/services/') },
    },
    saved,
  );

/** Returns what a source yields: targets, and reasons in brackets. */
async function itemsOf(source: Awaited<ReturnType<typeof open>>, most = Infinity): Promise<string[]> {
  const items: string[] = [];
  while (items.length < most) {
    const item = await source.next();
    if (item === undefined) break;
    items.push('notMade' in item ? `(${item.notMade})` : item.target);
  }
  return items;
}

const API = 'qa.example.org';

describe('a recording of several hosts', () => {
  const page = [
    [API, '/index.html'],
    ['cdn.example.com', '/app.js'],
    ['stats.example.com', '/hit?session=5'],
    [API, '/services/v2/idea.json'],
    [API, '/about.html'],
    [undefined, '/robots.txt'],
    ['cdn.example.com', '/more.js'],
  ] as const;
  const other = '(for another host)';

  it('has undocumented requests for the hosts that have documented ones, also those before them', async () => {
    expect(await itemsOf(await open(page, undefined, []))).toEqual([
      '/services/v2/idea.json',
      '/index.html',
      '/about.html',
      '/robots.txt',
      other,
      other,
      other,
    ]);
  });

  it('has those for the hosts of the old server at once', async () => {
    const items = await itemsOf(await open(page.slice(0, 3), undefined, [API]));
    expect(items).toEqual(['/index.html', other, other]);
  });

  it('continues with the same items, wherever it was interrupted', async () => {
    const whole = await itemsOf(await open(page, undefined, []));
    for (const count of whole.keys()) {
      const first = await open(page, undefined, []);
      const begun = await itemsOf(first, count);
      expect([...begun, ...(await itemsOf(await open(page, first.position(), [])))]).toEqual(whole);
    }
  });
});

describe('a recording with which a comparison continues', () => {
  const requests = ['/a', '/b', '/b', '/c'].map((target) => [API, target] as const);

  it('may have become longer, but must begin with the same requests', async () => {
    const first = await open(requests);
    await itemsOf(first, 3);
    const position: unknown = JSON.parse(JSON.stringify(first.position()));
    expect(await itemsOf(await open([...requests, [API, '/d']], position))).toEqual(['/c', '/d']);
    const others = [requests.slice(0, 2), requests.with(1, [API, '/x'])];
    for (const other of others) {
      const message = 'this is another recording: its first 3 requests are not those with which the comparison began';
      await expect(open(other, position)).rejects.toMatchObject({ faults: [{ source: '--resume', message }] });
    }
  });
});
