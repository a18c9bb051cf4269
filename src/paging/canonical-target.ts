/** What a target is made canonical by. */
export interface CanonicalPage {
  /** The page asked for; undefined where it is absent. */
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly firstPage: number;
  /** The size that an absent `pageSize` means at this deployment; undefined where that is not known. */
  readonly knownDefaultPageSize: number | undefined;
}

/**
 * The exact target that is sent upstream, in the client's own encoding and order: empty pieces are dropped, a `page`
 * that is the first one and a `pageSize` that is the known default are left out, so that they share a stored page.
 */
export function canonicalTarget(path: string, rawQuery: string | undefined, asked: CanonicalPage): string {
  const pieces = piecesOf(rawQuery);
  const omitted = new Set<string>();
  if (asked.page === asked.firstPage && isSingle(pieces, 'page')) omitted.add('page');
  if (asked.pageSize !== undefined && asked.pageSize === asked.knownDefaultPageSize && isSingle(pieces, 'pageSize')) {
    omitted.add('pageSize');
  }
  return join(
    path,
    pieces.filter((piece) => !omitted.has(nameOf(piece))),
  );
}

/** A target without its `page`: what a learned page count belongs to. */
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

// A repeated parameter has no one meaning: the upstream gets it as it came.
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
