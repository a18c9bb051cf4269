import { type PageRefusal, pageRefusal } from './page-counts.ts';

/** The requested page and list, determined once per target. */
export interface RequestedPage {
  /** The requested page. Undefined if the parameter is absent or cannot be parsed. */
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** The refusals of `page` and `pageSize` values that cannot be compared with their bounds. */
  readonly unreadable: readonly PageRefusal[];
  /** The target without its page, used as the key of the page count. */
  readonly listTarget: string;
}

/** The decoded parameters that select a page. */
export interface PageParameters {
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly query: ReadonlyMap<string, readonly string[]>;
}

const NONE: readonly PageRefusal[] = [];

/** Determines the page that is requested by these decoded parameters. `target` must be canonical. */
export function toRequestedPage(values: PageParameters, target: string): RequestedPage {
  const { page, pageSize } = values;
  const [ofPage, ofSize] = [unreadablePage(values, 'page'), unreadablePage(values, 'pageSize')];
  const unreadable = ofPage === NONE && ofSize === NONE ? NONE : [...ofPage, ...ofSize];
  return { page, pageSize, unreadable, listTarget: targetWithoutPage(target) };
}

/**
 * Finds integers that are too large, negative or repeated. The `requests` check reports them, but they must not bypass
 * the page bounds even if that check does not refuse them. The bounds do not apply to values that are not integers.
 */
function unreadablePage(values: PageParameters, name: 'page' | 'pageSize'): readonly PageRefusal[] {
  const texts = values[name] === undefined ? values.query.get(name) : undefined;
  if (texts?.every((text) => /^-?\d+$/.test(text)) !== true) return NONE;
  if (texts.some((text) => /^-0*[1-9]/.test(text))) return [pageRefusal(name, `${name} must not be negative`)];
  return [pageRefusal(name, `${name} cannot be checked against its bounds`)];
}

/** The parameters that determine the canonical form of a target. */
export interface CanonicalPage {
  /** The requested page. Undefined if it is absent. */
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly firstPage: number;
  /** The page size that this deployment uses if `pageSize` is absent. Undefined if it is unknown. */
  readonly knownDefaultPageSize: number | undefined;
}

/**
 * Returns the exact target to send upstream, with the client's own encoding and order. Equivalent requests must share a
 * stored response, so empty parameters, a `page` that selects the first page, and a `pageSize` that equals the known
 * default are removed.
 */
export function canonicalTarget(path: string, rawQuery: string | undefined, requested: CanonicalPage): string {
  const { page, pageSize, firstPage, knownDefaultPageSize } = requested;
  const pieces = piecesOf(rawQuery);
  const omittedPage = page === firstPage ? onlyIndexOf(pieces, 'page') : -1;
  const isDefaultSize = pageSize !== undefined && pageSize === knownDefaultPageSize;
  const omittedSize = isDefaultSize ? onlyIndexOf(pieces, 'pageSize') : -1;
  return join(
    path,
    pieces.filter((_, index) => index !== omittedPage && index !== omittedSize),
  );
}

/** Returns a target without its `page`, for use as the key of a page count. */
export function targetWithoutPage(target: string): string {
  const mark = target.indexOf('?');
  if (mark < 0 || !MAY_NAME_PAGE.test(target)) return target;
  return join(
    target.slice(0, mark),
    piecesOf(target.slice(mark + 1)).filter((piece) => !isNamed(piece, 'page')),
  );
}

const MAY_NAME_PAGE = /[?&]page(?:[=&]|$)|%/;

function piecesOf(rawQuery: string | undefined): string[] {
  return (rawQuery ?? '').split('&').filter((piece) => piece !== '');
}

function join(path: string, pieces: readonly string[]): string {
  return pieces.length === 0 ? path : `${path}?${pieces.join('&')}`;
}

/**
 * Returns the index of the piece with a name, or -1 if there is none or more than one. A repeated parameter is
 * ambiguous and is forwarded unchanged.
 */
function onlyIndexOf(pieces: readonly string[], name: string): number {
  const first = pieces.findIndex((piece) => isNamed(piece, name));
  const isRepeated = first >= 0 && pieces.some((piece, index) => index > first && isNamed(piece, name));
  return isRepeated ? -1 : first;
}

/** Returns whether a piece has the given name, which consists of letters. */
function isNamed(piece: string, name: string): boolean {
  if (piece.startsWith(name)) return piece.length === name.length || piece[name.length] === '=';
  if (!piece.includes('%')) return false;
  const equals = piece.indexOf('=');
  try {
    return decodeURIComponent(equals < 0 ? piece : piece.slice(0, equals)) === name;
  } catch {
    return false;
  }
}
