/** The parameters that determine the canonical form of a target. */
export interface CanonicalPage {
  /** The requested page. Undefined if the parameter is absent. */
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly firstPage: number;
  /** The page size that this deployment uses if `pageSize` is absent. Undefined if it is unknown. */
  readonly knownDefaultPageSize: number | undefined;
}

/**
 * Returns the exact target to send upstream, which preserves the client's encoding and order. Equivalent requests must
 * share a stored response, so empty parameters, a `page` that selects the first page, and a `pageSize` that equals the
 * known default are removed.
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

/** Returns a target without its `page`, for use as the key for a page count. */
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
 * Returns the index of the query parameter with the given name, or -1 if there is none or more than one. A repeated
 * parameter is ambiguous and is forwarded unchanged.
 */
function onlyIndexOf(pieces: readonly string[], name: string): number {
  const first = pieces.findIndex((piece) => isNamed(piece, name));
  const isRepeated = first >= 0 && pieces.some((piece, index) => index > first && isNamed(piece, name));
  return isRepeated ? -1 : first;
}

/** Returns whether a query parameter has the given name. The given name must consist of letters. */
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
