/** What a deployment may say about the contract. */
export interface ContractOptions {
  /** The folder with `openapi.yaml` and what is generated from it; Portico's own when undefined. */
  readonly folder?: string;
  /** True includes the operations that were inferred: comment writes (rules, 10). */
  readonly inferred: boolean;
  /** Query parameters accepted beside the documented ones, by operationId; whether there is such an operation is judged elsewhere. */
  readonly allowedParameters: Readonly<Record<string, readonly string[]>>;
  /** How many violations of one message are collected at most. */
  readonly maxCollected: number;
}

/** The options of a contract that nobody configured. */
export const CONTRACT_DEFAULTS: ContractOptions = { inferred: true, allowedParameters: {}, maxCollected: 20 };

/** The JSON Schema of {@link ContractOptions}, to be composed into that of the configuration. */
export const contractOptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    folder: {
      type: 'string',
      minLength: 1,
      description: 'The folder with openapi.yaml and what npm run schemas generates from it, relative to this file.',
    },
    inferred: {
      type: 'boolean',
      description: 'Include the two comment writes, which the specification implies and does not show.',
    },
    allowedParameters: {
      type: 'object',
      description: 'Query parameters accepted beside the documented ones, by operationId.',
      additionalProperties: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 64 } },
    },
    maxCollected: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      description: 'How many violations of one message are collected at most.',
    },
  },
} as const;
