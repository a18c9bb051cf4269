import { exampleOf } from './contract-examples.ts';
import { EXAMPLE_IDS, OPERATIONS } from './operations.ts';
import type { FakeResponse, FakeRequest } from './fake-upstream.ts';

const anyId = Object.fromEntries(Object.keys(EXAMPLE_IDS).map((name) => [name, '0'])) as unknown as typeof EXAMPLE_IDS;

const patterns = OPERATIONS.map((operation) => ({
  operation,
  path: new RegExp(`${operation.target(anyId).replaceAll('.', '[.]').replaceAll('/0', '/[0-9]+')}$`),
}));

/**
 * Returns the documented success response for the requested operation, regardless of the base path. Returns a 404 for
 * any other request.
 */
export function exampleResponse({ method, path }: Pick<FakeRequest, 'method' | 'path'>): FakeResponse {
  const found = patterns.find((one) => one.operation.method === method && one.path.test(path));
  if (found === undefined) return { status: 404, json: { error: 'not found' } };
  return { status: found.operation.success, json: exampleOf(found.operation.id) };
}
