/** The configuration options for the contract. */
export interface ContractOptions {
  /** The folder that contains `openapi.yaml` and the files generated from it. Defaults to Portico's own folder. */
  readonly folder?: string;
  /** The absolute paths of the OpenAPI Overlay documents, in the order in which they are applied. */
  readonly overlays: readonly string[];
  /**
   * The shadow contract. Its verdicts are compared with those of the enforced contract. Differences are reported but
   * never affect requests.
   */
  readonly candidate?: Pick<ContractOptions, 'folder' | 'overlays'>;
  /** The absolute path of the baseline, which lists accepted violations. Undefined if no baseline is configured. */
  readonly baseline?: string;
  /** True if the contract includes the inferred operations, all of which write comments (rules, 10). */
  readonly inferred: boolean;
  /**
   * The query parameters that are accepted in addition to the documented ones, by operationId. Unknown operationIds are
   * reported elsewhere.
   */
  readonly allowedParameters: Readonly<Record<string, readonly string[]>>;
  /** The maximum number of violations to collect for one message. */
  readonly maxCollected: number;
  /** True if the scanner is used. It can prove most responses valid from their bytes, without parsing them. */
  readonly scanner: boolean;
}

/** The default contract options. */
export const CONTRACT_DEFAULTS: ContractOptions = {
  overlays: [],
  inferred: true,
  allowedParameters: {},
  maxCollected: 20,
  scanner: true,
};

/** The JSON Schema of {@link ContractOptions}, which is part of the configuration's schema. */
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
