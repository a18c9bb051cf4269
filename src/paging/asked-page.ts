import { targetWithoutPage } from './canonical-target.ts';
import { type PageRefusal, pageRefusal } from './page-refusal.ts';

/** Which page of which list a request asks for; found out once for each target. */
export interface AskedPage {
  /** Undefined where the parameter is absent or could not be read. */
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** Why `page` and `pageSize` cannot be held to their bounds, where they cannot. */
  readonly unreadable: readonly PageRefusal[];
  /** The target without its page: what a page count is learned under. */
  readonly listTarget: string;
}

/** The decoded parameters that name a page. */
export interface PageParameters {
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly query: ReadonlyMap<string, readonly string[]>;
}

const NONE: readonly PageRefusal[] = [];

/** Reads which page the decoded parameters of a canonical target ask for. */
export function toAskedPage(values: PageParameters, target: string): AskedPage {
  const { page, pageSize } = values;
  const unreadable = [...unreadablePage(values, 'page'), ...unreadablePage(values, 'pageSize')];
  return { page, pageSize, unreadable, listTarget: targetWithoutPage(target) };
}

/**
 * Whole numbers out of reach, negative ones and repeated ones: the check of requests tells them, but where that only
 * reports they must not get past the bounds. What is no number at all has none.
 */
function unreadablePage(values: PageParameters, name: 'page' | 'pageSize'): readonly PageRefusal[] {
  const texts = values[name] === undefined ? values.query.get(name) : undefined;
  if (texts?.every((text) => /^-?\d+$/.test(text)) !== true) return NONE;
  return [pageRefusal(name, `${name} was sent in a form that cannot be held to its bounds`)];
}
