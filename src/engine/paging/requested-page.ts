import { targetWithoutPage } from './canonical-target.ts';
import { PAGE_BOUND, type PageRefusal, pageRefusal } from './page-counts.ts';

/** The requested page and list, determined once per target. */
export interface RequestedPage {
  /** The requested page. Undefined if the parameter is absent or cannot be parsed. */
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** The reasons for refusing `page` and `pageSize` values that cannot be compared with their bounds. */
  readonly unreadable: readonly PageRefusal[];
  /** The target without its page, used as the key for the page count. */
  readonly listTarget: string;
}

/** The decoded parameters that select a page. */
export interface PageParameters {
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly query: ReadonlyMap<string, readonly string[]>;
}

const NONE: readonly PageRefusal[] = [];

/** Determines the page requested by these decoded parameters. `target` must be canonical. */
export function toRequestedPage(values: PageParameters, target: string): RequestedPage {
  const { page, pageSize } = values;
  const [ofPage, ofSize] = [unreadablePage(values, 'page'), unreadablePage(values, 'pageSize')];
  const unreadable = ofPage === NONE && ofSize === NONE ? NONE : [...ofPage, ...ofSize];
  return { page, pageSize, unreadable, listTarget: targetWithoutPage(target) };
}

/**
 * Finds integers that are too large, negative or repeated. The `requests` check reports them, but even when that check
 * does not refuse them, they must not bypass the page bounds. The bounds do not apply to values that are not integers.
 */
function unreadablePage(values: PageParameters, name: 'page' | 'pageSize'): readonly PageRefusal[] {
  const texts = values[name] === undefined ? values.query.get(name) : undefined;
  if (texts?.every((text) => /^-?\d+$/.test(text)) !== true) return NONE;
  // The stage replaces the reason for `pageSize`, because only the stage knows the configured maximum.
  if (texts.some((text) => /^-0*[1-9]/.test(text)))
    return [pageRefusal(name, PAGE_BOUND, `${name} must not be negative`)];
  return [pageRefusal(name, PAGE_BOUND)];
}
