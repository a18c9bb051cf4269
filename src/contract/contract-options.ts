/** What a deployment may say about the contract. */
export interface ContractOptions {
  /** The folder with `openapi.yaml` and what is generated from it; Portico's own when undefined. */
  readonly folder?: string;
  /** OpenAPI Overlay documents that are applied in this order, as absolute paths. */
  readonly overlays: readonly string[];
  /** A second contract that only reports what it would judge differently. */
  readonly candidate?: Pick<ContractOptions, 'folder' | 'overlays'>;
  /** The file of accepted violations, an absolute path; none when undefined. */
  readonly baseline?: string;
  /** True includes the operations that were inferred: comment writes (rules, 10). */
  readonly inferred: boolean;
  /** Query parameters accepted beside the documented ones, by operationId; whether there is such an operation is judged elsewhere. */
  readonly allowedParameters: Readonly<Record<string, readonly string[]>>;
  /** How many violations of one message are collected at most. */
  readonly maxCollected: number;
}

/** The options of a contract that nobody configured. */
export const CONTRACT_DEFAULTS: ContractOptions = {
  overlays: [],
  inferred: true,
  allowedParameters: {},
  maxCollected: 20,
};

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
    overlays: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'OpenAPI Overlay 1.0 documents applied to the contract in this order, relative to this file.',
    },
    candidate: {
      type: 'object',
      additionalProperties: false,
      description: 'A contract beside this one that only reports what it would newly refuse or accept.',
      properties: {
        folder: { type: 'string', minLength: 1, description: 'Its folder; that of the contract when left out.' },
        overlays: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          description: 'Its overlays, in place of those of the contract.',
        },
      },
    },
    baseline: {
      type: 'string',
      minLength: 1,
      description: 'The file of violations that are known and accepted, relative to this file.',
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
