/** The contract's part of the configuration. */
export interface ContractOptions {
  /** The folder with `openapi.yaml` and the files generated from it; Portico's own when undefined. */
  readonly folder?: string;
  /** Absolute paths of the OpenAPI Overlay documents, in the order in which they are applied. */
  readonly overlays: readonly string[];
  /** The shadow contract. It never acts; differences between its verdicts and those of the contract are reported. */
  readonly candidate?: Pick<ContractOptions, 'folder' | 'overlays'>;
  /** The absolute path of the file of accepted violations; undefined if there is none. */
  readonly baseline?: string;
  /** True to include the inferred operations, which are the comment writes (rules, 10). */
  readonly inferred: boolean;
  /**
   * Query parameters accepted in addition to the documented ones, by operationId. Unknown operationIds are reported
   * elsewhere.
   */
  readonly allowedParameters: Readonly<Record<string, readonly string[]>>;
  /** The maximum number of violations collected for one message. */
  readonly maxCollected: number;
  /** True proves most valid responses on their bytes, without parsing them. */
  readonly scanner: boolean;
}

/** The defaults of the contract options. */
export const CONTRACT_DEFAULTS: ContractOptions = {
  overlays: [],
  inferred: true,
  allowedParameters: {},
  maxCollected: 20,
  scanner: true,
};

/** The JSON Schema of {@link ContractOptions}, which is part of the schema of the configuration. */
export const contractOptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    folder: {
      type: 'string',
      minLength: 1,
      description: 'The folder with openapi.yaml and vendor-extensions.schema.json, relative to this file.',
    },
    overlays: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'OpenAPI Overlay 1.0 documents applied to the contract in this order, relative to this file.',
    },
    candidate: {
      type: 'object',
      additionalProperties: false,
      description: 'A shadow contract, which only reports the messages that it would newly refuse or accept.',
      properties: {
        folder: {
          type: 'string',
          minLength: 1,
          description: 'The folder of the shadow contract; by default the folder of the contract.',
        },
        overlays: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          description: 'The overlays of the shadow contract, which replace those of the contract.',
        },
      },
    },
    baseline: {
      type: 'string',
      minLength: 1,
      description: 'The file of accepted violations, relative to this file.',
    },
    inferred: {
      type: 'boolean',
      description: 'Include the two comment writes, which the specification implies but does not document.',
    },
    allowedParameters: {
      type: 'object',
      description: 'Query parameters accepted in addition to the documented ones, by operationId.',
      additionalProperties: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 64 } },
    },
    maxCollected: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      description: 'The maximum number of violations collected for one message.',
    },
  },
} as const;
