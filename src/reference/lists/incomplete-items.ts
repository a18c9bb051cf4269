import { createSeededRandom } from '../../lib/seeded-random.ts';
import type { LegacyResponse } from '../http/legacy-response.ts';

type Item = Readonly<Record<string, unknown>>;

/**
 * The fields that some items lack, keyed by operation number. The contract expects these fields but does not require
 * them. None of these fields contains personal data.
 */
const OMITTED: Readonly<Record<number, readonly string[]>> = {
  6: ['slug', 'answerCount', 'primaryContainerId'],
  7: ['extra'],
  8: ['plug', 'reportCount'],
  13: ['slug'],
};

/** The share of items that lack a field. */
const SHARE = 0.02;

/**
 * Omits an expected field from some list items, as a real server does. The seed and the item's id determine whether a
 * field is missing and which one, so the same item always has the same fields. Returns all other responses unchanged.
 */
export const withIncompleteItems =
  (seed: number) =>
  (response: LegacyResponse, operation: number | undefined): LegacyResponse => {
    const names = OMITTED[operation ?? 0];
    if (names === undefined || response.status !== 200 || response.payload.kind !== 'json') return response;
    const body = response.payload.value as Item;
    const list = operation === 7 ? 'actions' : 'list';
    const items = body[list];
    if (!Array.isArray(items)) return response;
    const value = { ...body, [list]: items.map((item: Item) => withoutField(item, names, seed)) };
    return { ...response, payload: { kind: 'json', value } };
  };

function withoutField(item: Item, names: readonly string[], seed: number): Item {
  // A projection can remove the id. An id above 2^53 is raw JSON, so its digits are taken from the JSON text.
  const digits = (JSON.stringify(item['id']) ?? '').replaceAll(/\D/g, '');
  if (digits === '') return item;
  const random = createSeededRandom(seed * 31 + Number(digits.slice(-9)));
  if (!random.chance(SHARE)) return item;
  const omitted = random.pick(names);
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== omitted));
}
