import type { ObservedAnswer } from '../learn/sample/sampled-response.ts';
import type { Exchange } from '../pipeline/exchange.ts';

const SWITCHES = /(?:^|&)(?:wrap|v1)(?:=[^&]*)?/g;

/** An answer as learning looks at it. */
export function toObservedAnswer(
  { arrival, values }: Pick<Exchange, 'arrival' | 'values'>,
  operation: string,
  status: number,
  json: unknown,
): ObservedAnswer {
  const { details, projection, wrap, v1, page, pageSize } = values();
  const query = (arrival.query ?? '').replaceAll(SWITCHES, '').replace(/^&/, '');
  const question = `${arrival.path}?${query}`;
  return { operation, status, details, projected: projection !== undefined, wrap, v1, page, pageSize, question, json };
}
