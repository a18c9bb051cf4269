import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../../../lib/bounded-json.ts';
import { membersOf } from '../../../lib/plain-object.ts';
import { DEFAULT_PAGING_OPTIONS } from '../../../engine/paging/paging-options.ts';
import { CannotProbe, type ProbeResponse, respond } from '../probe-client.ts';
import { applicable, type Probe, readableList } from '../probe.ts';
import type { Recommendation } from '../recommend.ts';

/** The page sizes to request, in ascending order. */
const SIZES = [10, 50, 100, 200];

/** Determines the default page size and the largest page size that the server honors. */
export const pageSizeProbe: Probe = {
  name: 'page sizes',
  does: `requests a list with page sizes of ${SIZES.join(', ')}, until the server sends fewer items than requested`,
  requests: () => SIZES.length + 1,
  run: async (context) => {
    const { operation } = readableList(context);
    if (operation.paging === undefined) throw new CannotProbe(`${operation.id}, the only readable list, has no pages`);
    const request = async (query: string) => pageOf(await respond(context.client, { path: operation.path + query }));
    const standard = await request('');
    if (standard === undefined) throw new CannotProbe('the list is not in the documented envelope');
    let cut: { readonly size: number; readonly items: number } | undefined;
    let [honored, total] = [0, standard.total];
    for (const size of SIZES) {
      const page = await request(`?pageSize=${size}`);
      total = Math.max(total, page?.total ?? 0);
      if (page?.items !== size) {
        // If the list has fewer items than requested, larger pages cannot be tested.
        const isComplete = page !== undefined && page.items < size && page.items >= total;
        if (!isComplete) cut = { size, items: page?.items ?? 0 };
        break;
      }
      honored = size;
    }
    const cap = Math.max(honored, cut?.items ?? 0);
    const known = standard.items > 0 && total > standard.items ? standard.items : undefined;
    const start = known === undefined ? 'The' : `A page has ${known} items by default; the`;
    const more = total < (SIZES.at(-1) ?? 0) ? '; the list is too short to tell more' : '';
    const text = cut === undefined ? `All page sizes up to ${honored} were honored${more}.` : cutWords(cut);
    const severity = cap < DEFAULT_PAGING_OPTIONS.maxPageSize ? 'medium' : 'info';
    const advice = `Clients that ask for more miss items. With pageBounds.maxPageSize: ${cap}, Portico refuses such requests.`;
    return {
      facts: [`${start} list has ${total} items.`, text],
      findings: applicable([cut !== undefined && { severity, text, advice }]),
      recommendations: applicable<Recommendation>([
        cut !== undefined &&
          cap > 0 && {
            key: 'pageBounds.maxPageSize',
            value: cap,
            reason: 'Larger pages are truncated or refused by the server.',
          },
        known !== undefined && {
          key: `cache.defaultPageSize.${operation.id}`,
          value: known,
          reason: 'Requests without pageSize then share stored pages with requests for this size.',
        },
      ]),
    };
  },
};

/** Returns the number of items on a page, and the stated total number of items in the list (0 if not stated). */
function pageOf({ body }: ProbeResponse): { readonly items: number; readonly total: number } | undefined {
  const { list, totalCount } = membersOf(parsedValue(parseBounded(body, DEFAULT_JSON_LIMITS)));
  if (!Array.isArray(list)) return undefined;
  return { items: list.length, total: typeof totalCount === 'number' ? totalCount : 0 };
}

const cutWords = ({ size, items }: { size: number; items: number }) =>
  items === 0 ? `A page size of ${size} is refused.` : `For a page size of ${size}, the server sends ${items} items.`;
