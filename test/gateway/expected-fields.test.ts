import { expect, it } from 'vitest';
import { startReferenceServer } from '../../src/reference/start-reference-server.ts';
import { startTestGateway } from '../builders/test-gateway.ts';

it('a server that leaves out an expected field now and then is neither refused nor kept out of the cache', async () => {
  const reference = await startReferenceServer({ complete: true, seed: 7, chaos: ['missing-field:slug@6%50'] });
  const config = { mode: 'staging', operations: { listQuestions: { checks: { responses: 'enforce' } } } };
  const gateway = await startTestGateway({ upstream: reference, config });
  const pages = Array.from({ length: 12 }, (_, index) => `/services/v2/question.json?page=${index + 1}&pageSize=5`);
  const read = async () => {
    const replies = [];
    for (const page of pages) replies.push(await gateway.call(page));
    return replies;
  };
  const first = await read();
  expect(first.map(({ status }) => status)).toEqual(pages.map(() => 200));
  const incomplete = first.filter(({ json }) =>
    [json?.['list'] ?? []].flat().some((item: object) => !('slug' in item)),
  );
  expect(incomplete.length).toBeGreaterThan(0);
  expect(incomplete.length).toBeLessThan(pages.length);
  for (const response of first) {
    const expected = incomplete.includes(response) ? /^violations; count=1; worst=advisory/ : /^conforming/;
    expect(response.headers['contract-status']).toMatch(expected);
  }
  for (const { headers } of await read()) expect(headers['cache-status']).toMatch(/hit/);
  await reference.close();
});
