import type { SampledResponse } from './sample-body.ts';
import type { Exchange } from '../../engine/pipeline/exchange.ts';

const SWITCHES = /(?:^|&)(?:wrap|v1)(?:=[^&]*)?/g;

/** Converts an exchange and its response to the form required for sampling. */
export function toSampledResponse(
  { arrival, values }: Pick<Exchange, 'arrival' | 'values'>,
  operation: string,
  status: number,
  json: unknown,
): SampledResponse {
  const { details, projection, wrap, v1, page, pageSize } = values();
  const query = (arrival.query ?? '').replaceAll(SWITCHES, '').replace(/^&/, '');
  const request = `${arrival.path}?${query}`;
  return { operation, status, details, projected: projection !== undefined, wrap, v1, page, pageSize, request, json };
}
