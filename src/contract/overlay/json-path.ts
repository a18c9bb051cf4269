import { createRequire } from 'node:module';
import type * as JsonP3 from 'json-p3';

let loaded: typeof JsonP3.jsonpath | undefined;

/** The library of JSONPath (RFC 9535), loaded when first asked for: a start without overlays does not need it. */
export function jsonPath(): typeof JsonP3.jsonpath {
  return (loaded ??= (createRequire(import.meta.url)('json-p3') as typeof JsonP3).jsonpath);
}
