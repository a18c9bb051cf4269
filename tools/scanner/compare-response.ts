import { PROFILE } from '../../src/profile/profile.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Contract } from '../../src/engine/contract/load-contract.ts';
import type { ParameterValues } from '../../src/engine/contract/values.ts';
import { DEFAULT_JSON_LIMITS, parseBounded } from '../../src/lib/bounded-json.ts';
import type { Operation } from '../../src/engine/model/operation.ts';
import { authorsOf } from '../../src/engine/pipeline/authors.ts';
import { bodyFactsOf } from '../../src/engine/pipeline/body-facts.ts';
import type { PlannedOperation } from '../../src/engine/pipeline/stage.ts';
import type { ScanResponse } from '../../src/engine/pipeline/scan-response.ts';
import { ADDRESS, type CompareBody } from './compare-body.ts';

/** The response to compare, without its body. */
export interface ComparedResponse {
  readonly operation: Operation;
  readonly status: number;
  readonly parameters: ParameterValues;
}

const MEDIA_TYPE = 'application/json';

/**
 * Creates the comparison for one response of an operation. If a scan proves that a body is valid, the checks of the
 * parsed body must also find it valid, with the same undocumented fields, page count, tags and authors.
 */
export function createCompareResponse(
  contract: Contract,
  scan: ScanResponse,
  { operation, status, parameters }: ComparedResponse,
): CompareBody {
  // Tags are computed only for stored pages.
  const planned = { operation, cache: {}, items: PROFILE.items } as Pick<
    PlannedOperation,
    'operation' | 'cache' | 'items'
  >;
  const read = (json: unknown) => ({ facts: bodyFactsOf(planned, json), authors: authorsOf(planned, json) });
  return (bytes) => {
    const scanned = scan(operation, parameters, { status, mediaType: MEDIA_TYPE, bytes });
    const parsed = parseBounded(bytes, DEFAULT_JSON_LIMITS);
    const json = parsed.state === 'parsed' ? parsed.value : undefined;
    const response = { status, mediaType: MEDIA_TYPE, isEmpty: bytes.length === 0, json };
    const findings = contract.checkResponse(operation, parameters, response);
    const isValid = json !== undefined && findings.verdict === 'valid';
    if (typeof scanned !== 'object') return isValid ? 'closer' : 'both invalid';
    if (!isValid) return `WRONG: accepts a body with the verdict ${parsed.state} ${findings.verdict}`;
    if (!isDeepStrictEqual(scanned.findings, findings)) return 'WRONG: reports other findings';
    if (!scanned.hasAddress && ADDRESS.test(bytes.toString('latin1'))) return 'WRONG: misses an absolute address';
    return isDeepStrictEqual(read(scanned.json), read(json)) ? 'both valid' : 'WRONG: reads other facts';
  };
}
