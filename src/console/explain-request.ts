import { METHODS } from 'node:http';
import { queryText } from './query-values.ts';

/** A request to be explained, or which field of the form is wrong. */
export type ExplainForm =
  | { readonly ok: true; readonly request: { method: string; target: string; as?: string } }
  | { readonly ok: false; readonly field: 'method' | 'target'; readonly message: string };

const MAX_TARGET = 4096;

/** Reads the form of `explain`: method, target and whose request it would be; nobody's where no account is named. */
export function explainRequest(query: Readonly<Record<string, unknown>>): ExplainForm {
  const method = queryText(query, 'method').toUpperCase() || 'GET';
  const written = queryText(query, 'target', MAX_TARGET + 1).trim();
  // A whole address, as copied from somewhere, is as good as its path.
  const target = /^https?:\/\/[^/?#]+(?<rest>.*)$/is.exec(written)?.groups?.['rest'] ?? written;
  const as = queryText(query, 'as').trim();
  if (!METHODS.includes(method)) return { ok: false, field: 'method', message: 'This is not a method of HTTP.' };
  if (!target.startsWith('/') || target.length > MAX_TARGET || /[\s\p{Cc}]/u.test(target))
    return {
      ok: false,
      field: 'target',
      message: `A target begins with a slash and has no spaces: /services/v2/question.json`,
    };
  return { ok: true, request: as === '' ? { method, target } : { method, target, as } };
}
