import type { ErrorCode } from '../errors/catalogue.ts';
import type { Arrival } from '../model/arrival.ts';
import { headerPairs, headerValues } from '../model/header-pairs.ts';

/** Why a request's body cannot be read as JSON in UTF-8, judging by its `Content-Type`. */
interface BodyTypeProblem {
  readonly keyword: 'media-type' | 'charset' | 'repeated-header';
  readonly code: ErrorCode;
  readonly message: string;
}

// A charset parameter, possibly quoted. Text inside another quoted parameter may look like one and is then refused, too.
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*("?)([^";,]*)/gi;

/** Returns the client's `Content-Type` lines, as received. */
export const contentTypeLines = ({ rawHeaders }: Pick<Arrival, 'rawHeaders'>): readonly string[] =>
  headerValues(headerPairs(rawHeaders), 'content-type');

/**
 * Returns the problem with a request's `Content-Type`, or undefined if the header is absent or says JSON in UTF-8. JSON is
 * always UTF-8 (RFC 8259 §8.1), so the upstream would read the bytes differently if they were labeled as UTF-8.
 */
export function bodyTypeProblem(arrival: Pick<Arrival, 'rawHeaders'>): BodyTypeProblem | undefined {
  const lines = contentTypeLines(arrival);
  const [type, ...others] = lines;
  if (type === undefined) return undefined;
  if (others.some((other) => other.trim().toLowerCase() !== type.trim().toLowerCase()))
    return {
      keyword: 'repeated-header',
      code: 'invalid_body',
      message: 'The request has several Content-Type headers that differ; send one, application/json.',
    };
  if (!/^[ \t]*application\/json[ \t]*(?:;|$)/i.test(type))
    return { keyword: 'media-type', code: 'unsupported_media_type', message: 'The body must be application/json.' };
  for (const [, , charset = ''] of type.matchAll(CHARSET))
    if (!/^utf-?8$/i.test(charset.trim()))
      return {
        keyword: 'charset',
        code: 'unsupported_media_type',
        message: 'The charset of the body must be UTF-8; encode the JSON in UTF-8.',
      };
  return undefined;
}
