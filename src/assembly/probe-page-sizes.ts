import { isRefusal } from '../learn/sample/page-sizes.ts';
import { type LearnQuestion, PROBED_LISTS, PROBED_SIZES } from './learn-questions.ts';

/** Asks one question; undefined where no answer came. */
export type Ask = (question: LearnQuestion) => Promise<{ readonly status: number; readonly json: unknown } | undefined>;

/** Asks for larger and larger pages until one holds all items that there are; where a size is refused, for those between. */
export async function probePageSizes(ask: Ask): Promise<void> {
  for (const [operation, path] of PROBED_LISTS) {
    const asked = (pageSize: number) => ask({ operation, target: `${path}?pageSize=${pageSize}`, pageSize });
    let accepted = 1;
    for (const size of PROBED_SIZES) {
      const { status, json } = (await asked(size)) ?? { status: 0, json: undefined };
      if (isRefusal(status)) await halve(asked, accepted, size);
      const { list, totalCount } = (json ?? {}) as { readonly list?: unknown; readonly totalCount?: unknown };
      if (status !== 200 || !Array.isArray(list) || typeof totalCount !== 'number' || totalCount <= list.length) break;
      accepted = size;
    }
  }
}

/** Finds the size from which on the server refuses. */
async function halve(asked: (size: number) => ReturnType<Ask>, accepted: number, refused: number): Promise<void> {
  let [low, high] = [accepted, refused];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const status = (await asked(middle))?.status ?? 0;
    if (status !== 200 && !isRefusal(status)) return;
    if (status === 200) low = middle;
    else high = middle;
  }
}
