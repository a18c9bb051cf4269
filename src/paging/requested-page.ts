import { type PageRefusal, pageRefusal } from './bound-page.ts';

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
