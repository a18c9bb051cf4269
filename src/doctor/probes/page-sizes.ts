import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../../lib/bounded-json.ts';
import { DEFAULT_PAGING_OPTIONS } from '../../paging/paging-options.ts';
import { CannotProbe, type DoctorFinding, type Probe, readableList, type Recommendation, respond } from '../probe.ts';
import { membersOf } from '../../lib/plain-object.ts';

/** The page sizes to request, in ascending order. */
const SIZES = [10, 50, 100, 200];

/** A page of a list: its number of items, and the stated total number of items in the list. */
interface Page {
  readonly items: number;
  readonly total: number | undefined;
}

/** Determines the default page size and the largest page size that the server honors. */
export const pageSizeProbe: Probe = {
  name: 'page sizes',
  does: `requests a list with page sizes of ${SIZES.join(', ')}, until the server sends fewer items than requested`,
  requests: () => SIZES.length + 1,
  run: async (context) => {
    const { operation } = readableList(context);
    if (operation.paging === undefined) throw new CannotProbe(`${operation.id}, the only readable list, has no pages`);
    const request = async (query: string) =>
      pageOf((await respond(context.client, { path: operation.path + query })).body);
    const standard = await request('');
    if (standard === undefined) throw new CannotProbe('the list is not in the documented envelope');
    let cut: { readonly size: number; readonly items: number } | undefined;
    let [honored, total] = [0, standard.total ?? 0];
    for (const size of SIZES) {
      const page = await request(`?pageSize=${size}`);
      if (page === undefined) {
        cut = { size, items: 0 };
        break;
      }
      total = Math.max(total, page.total ?? 0);
      if (page.items === size) honored = size;
      else if (page.items > size || page.items < Math.min(size, total)) {
        cut = { size, items: page.items };
        break;
        // The list has fewer items than requested, so larger pages cannot be tested.
      } else break;
    }
    const cap = cut === undefined ? honored : Math.max(honored, cut.items);
    const known = standard.items > 0 && total > standard.items ? standard.items : undefined;
    return {
      facts: [
        known === undefined
          ? `The list has ${total} items.`
          : `A page has ${known} items by default; the list has ${total}.`,
        cut === undefined
          ? `All page sizes up to ${honored} were honored${total < (SIZES.at(-1) ?? 0) ? '; the list is too short to tell more' : ''}.`
          : cutWords(cut),
      ],
      findings: cut === undefined ? [] : [cutFinding(cut, cap)],
      recommendations: recommendations(operation.id, known, cut === undefined ? undefined : cap),
    };
  },
};

function pageOf(body: Buffer): Page | undefined {
  const { list, totalCount } = membersOf(parsedValue(parseBounded(body, DEFAULT_JSON_LIMITS)));
  if (!Array.isArray(list)) return undefined;
  return { items: list.length, total: typeof totalCount === 'number' ? totalCount : undefined };
}

const cutWords = ({ size, items }: { size: number; items: number }) =>
  items === 0 ? `A page size of ${size} is refused.` : `For a page size of ${size}, the server sends ${items} items.`;

const cutFinding = (cut: { size: number; items: number }, cap: number): DoctorFinding => ({
  severity: cap < DEFAULT_PAGING_OPTIONS.maxPageSize ? 'medium' : 'info',
  text: cutWords(cut),
  advice: `Clients that ask for more miss items. With pageBounds.maxPageSize: ${cap}, Portico refuses such requests.`,
});

function recommendations(id: string, standard: number | undefined, cap: number | undefined): readonly Recommendation[] {
  return [
    ...(cap === undefined || cap === 0
      ? []
      : [
          { key: 'pageBounds.maxPageSize', value: cap, reason: 'Larger pages are truncated or refused by the server.' },
        ]),
    ...(standard === undefined
      ? []
      : [
          {
            key: `cache.defaultPageSize.${id}`,
            value: standard,
            reason: 'Requests without pageSize then share stored pages with requests for this size.',
          },
        ]),
  ];
}
