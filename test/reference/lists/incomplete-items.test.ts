import { describe, expect, it } from 'vitest';
import { withReferenceServer } from '../with-reference-server.ts';

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/question.json': ['slug', 'answerCount', 'primaryContainerId'],
  '/action.json': ['extra'],
  '/idea.json': ['plug', 'reportCount'],
};

type Item = Readonly<Record<string, unknown>>;

describe('the items of the lists', () => {
  const usual = withReferenceServer();
  const again = withReferenceServer();
  const other = withReferenceServer({ seed: 2 });
  const complete = withReferenceServer({ complete: true });

  /** Returns the ids and the missing fields of all incomplete items among the first 500 in each list. */
  async function gaps(harness = usual): Promise<Readonly<Record<string, readonly string[]>>> {
    const found: Record<string, string[]> = {};
    for (const [path, names] of Object.entries(FIELDS))
      for (const page of [1, 2, 3, 4, 5]) {
        const response = await harness.call(`${path}?pageSize=100&page=${page}`, { user: 'admin' });
        const { list, actions = list } = response.json as unknown as Record<string, readonly Item[]>;
        for (const item of actions ?? []) {
          const missing = names.filter((name) => !(name in item)).map((name) => `${String(item['id'])} ${name}`);
          found[path] = [...(found[path] ?? []), ...missing];
        }
      }
    return found;
  }

  it('lack an expected field now and then, at most one each', async () => {
    for (const [path, missing] of Object.entries(await gaps())) {
      expect(missing.length, path).toBeGreaterThan(0);
      expect(missing.length, path).toBeLessThan(30);
      expect(new Set(missing.map((text) => text.split(' ')[0])).size).toBe(missing.length);
    }
  });

  it('lack the same fields with the same seed, and others with another seed', async () => {
    const found = await gaps();
    expect(await gaps(again)).toEqual(found);
    expect(await gaps(other)).not.toEqual(found);
  });

  it('have every expected field if the server is complete', async () => {
    expect(Object.values(await gaps(complete)).flat()).toEqual([]);
  });
});
