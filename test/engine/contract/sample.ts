import { contractFolder } from '../../../src/engine/contract/contract-files.ts';
import { parseSource, readSource } from '../../../src/engine/contract/document/read-document.ts';
import type { ResponseFindings } from '../../../src/engine/contract/compile/check-response.ts';
import type { OpenApiDocument } from '../../../src/engine/contract/openapi-document.ts';
import type { Operation } from '../../../src/engine/model/operation.ts';
import { contract } from '../../builders/compiled-contract.ts';

export { contract };

/** The parsed document from which the contract is compiled. */
export const document: OpenApiDocument = parseSource(readSource(contractFolder()));

/** Returns an operation. Throws if it does not exist. */
export function operation(id: string): Operation {
  const known = contract.operations.find((one) => one.id === id);
  if (!known) throw new Error(`no operation ${id}`);
  return known;
}

/** A JSON object that a test can modify. */
export type Json = Record<string, unknown>;

/** Returns a new copy of an example in the document. */
export function example(name: string): Json {
  return structuredClone(document.components.examples[name]?.value) as Json;
}

/** Returns a copy of an example with a new value at a path. The value `undefined` removes the current one. */
export function bent(json: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(json) as Json;
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const parent = keys.reduce<Json>((at, key) => at[key] as Json, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

/**
 * Returns the contract's verdict on a response. By default, the response is JSON with status 200, and every id in the
 * request is that of the node in the examples.
 */
export function judge(
  id: string,
  json: unknown,
  more: {
    query?: string;
    ids?: string;
    status?: number;
    mediaType?: string | undefined;
    isEmpty?: boolean;
    bytes?: Buffer;
  } = {},
): ResponseFindings {
  const one = operation(id);
  const names = one.parameters.filter((parameter) => parameter.location === 'path').map((parameter) => parameter.name);
  const rawParameters = Object.fromEntries(names.map((name) => [name, more.ids ?? '118']));
  const { values } = contract.decodeParameters(one, { rawParameters }, more.query);
  const mediaType = 'mediaType' in more ? more.mediaType : 'application/json';
  return contract.checkResponse(one, values, {
    status: more.status ?? 200,
    mediaType,
    json,
    isEmpty: more.isEmpty === true,
    bytes: more.bytes,
  });
}

/** Returns the violations in the short form `keyword at`. */
export function found(judgement: ResponseFindings): string[] {
  return judgement.violations.map(({ keyword, at }) => `${keyword} ${at}`);
}
