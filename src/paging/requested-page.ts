import { type PageRefusal, pageRefusal } from './page-counts.ts';

/** The page and the list that a request asks for. They are determined once per target. */
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

/** Determines which page a request with these decoded parameters asks for. `target` must be canonical. */
export function toRequestedPage(values: PageParameters, target: string): RequestedPage {
  const { page, pageSize } = values;
  const unreadable = [...unreadablePage(values, 'page'), ...unreadablePage(values, 'pageSize')];
  return { page, pageSize, unreadable, listTarget: targetWithoutPage(target) };
}

/**
 * Finds integers that are too large, negative or repeated. The `requests` check reports such integers. Even if that
 * check does not refuse them, they must not bypass the page bounds. The bounds do not apply to values that are not
 * integers.
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
 * Returns the exact target to send upstream, with the client's own encoding and order. Equivalent requests must share
 * a stored response, so these parameters are removed: empty ones, a `page` that selects the first page, and a
 * `pageSize` that equals the known default.
 */
export function canonicalTarget(path: string, rawQuery: string | undefined, requested: CanonicalPage): string {
  const pieces = piecesOf(rawQuery);
  const omitted = new Set<string>();
  if (requested.page === requested.firstPage && isSingle(pieces, 'page')) omitted.add('page');
  if (
    requested.pageSize !== undefined &&
    requested.pageSize === requested.knownDefaultPageSize &&
    isSingle(pieces, 'pageSize')
  ) {
    omitted.add('pageSize');
  }
  return join(
    path,
    pieces.filter((piece) => !omitted.has(nameOf(piece))),
  );
}

/** Returns a target without its `page`, for use as the key of a page count. */
export function targetWithoutPage(target: string): string {
  const mark = target.indexOf('?');
  if (mark < 0 || (!target.includes('page', mark) && !target.includes('%', mark))) return target;
  return join(
    target.slice(0, mark),
    piecesOf(target.slice(mark + 1)).filter((piece) => nameOf(piece) !== 'page'),
  );
}

function piecesOf(rawQuery: string | undefined): string[] {
  return (rawQuery ?? '').split('&').filter((piece) => piece !== '');
}

function join(path: string, pieces: readonly string[]): string {
  return pieces.length === 0 ? path : `${path}?${pieces.join('&')}`;
}

// A repeated parameter is ambiguous, so the target is forwarded unchanged.
function isSingle(pieces: readonly string[], name: string): boolean {
  return pieces.filter((piece) => nameOf(piece) === name).length === 1;
}

function nameOf(piece: string): string {
  const equals = piece.indexOf('=');
  const raw = (equals < 0 ? piece : piece.slice(0, equals)).replaceAll('+', ' ');
  if (!raw.includes('%')) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}
