/** The configuration key `contract:` with every default filled in. */
export interface ContractOptions {
  /** Whether operations that are only inferred belong to the contract. */
  readonly inferred: 'on' | 'off';
}

/** JSON Schema of the configuration key `contract:`. */
export const contractOptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    inferred: { enum: ['on', 'off'], description: 'on with the embedded upstream, off with a real one, by default.' },
  },
};
